/** The API: one RPC for anybody, one for whoever has logged in, one for the owner. */
export function starterProto(name: string, word: string, title: string): string {
  return `syntax = "proto3";

package ${word}.v1;

import "google/api/annotations.proto";
import "svc/access/v1/policy.proto";

// Items, each with an owner.
service ${title}Service {
  // Says which version runs.
  rpc GetVersion(GetVersionRequest) returns (GetVersionResponse) {
    option (google.api.http) = {get: "/v1/${name}/version"};
    option (svc.access.v1.policy) = {
      exposure: PUBLIC
      rate_limit: {
        qps: 5
        burst: 10
      }
      gateway: {publish: true}
    };
  }

  // Lists the items that the caller may read.
  rpc ListItems(ListItemsRequest) returns (ListItemsResponse) {
    option (google.api.http) = {get: "/v1/${name}/items"};
    option (svc.access.v1.policy) = {
      exposure: AUTHENTICATED
      rate_limit: {
        qps: 50
        burst: 100
      }
      gateway: {publish: true}
    };
  }

  // Makes or changes an item that the caller may write.
  rpc SetItem(SetItemRequest) returns (SetItemResponse) {
    option (google.api.http) = {
      put: "/v1/${name}/items/{item_id}"
      body: "*"
    };
    option (svc.access.v1.policy) = {
      exposure: AUTHORIZED
      authz: {
        action: "write"
        resource: "item:{item_id}"
      }
      audit: {
        event: "${word}.item.set"
        risk_level: LOW
      }
      rate_limit: {
        qps: 50
        burst: 100
      }
      gateway: {publish: true}
    };
  }
}

// Something with a text.
message Item {
  // The name of the item.
  string item_id = 1;
  // What it says.
  string text = 2;
  // Who changed it last.
  string changed_by = 3;
}

// Asks for the version.
message GetVersionRequest {}
// The version.
message GetVersionResponse {
  // The number of the version.
  string version = 1;
}
// Asks for all items.
message ListItemsRequest {}
// The items that the caller may read.
message ListItemsResponse {
  // In the order of their names.
  repeated Item items = 1;
}
// What an item shall be.
message SetItemRequest {
  // The name of the item.
  string item_id = 1;
  // What it shall say; not empty.
  string text = 2;
}
// The item as it is now.
message SetItemResponse {
  // The item.
  Item item = 1;
}
`;
}
