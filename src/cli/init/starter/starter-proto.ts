/** The API: one RPC for everyone, one for users who have logged in, one for the owner. */
export function starterProto(name: string, word: string, title: string): string {
  return `syntax = "proto3";

package ${word}.v1;

import "google/api/annotations.proto";
import "svc/access/v1/policy.proto";

// Items, each with an owner.
service ${title}Service {
  // Returns the version of the service.
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

  // Creates or changes an item that the caller may write.
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

// An item with a text.
message Item {
  // The name of the item.
  string item_id = 1;
  // The text of the item.
  string text = 2;
  // The user who changed it last.
  string changed_by = 3;
}

// The request for the version.
message GetVersionRequest {}
// The version.
message GetVersionResponse {
  // The number of the version.
  string version = 1;
}
// The request for all items.
message ListItemsRequest {}
// The items that the caller may read.
message ListItemsResponse {
  // The items, by name.
  repeated Item items = 1;
}
// The item to create or change.
message SetItemRequest {
  // The name of the item.
  string item_id = 1;
  // The new text of the item; not empty.
  string text = 2;
}
// The changed item.
message SetItemResponse {
  // The item.
  Item item = 1;
}
`;
}
