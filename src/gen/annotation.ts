// Generated from proto/svc/access/v1/policy.proto by npm run generate. DO NOT EDIT.

/** The definition of the annotation; the definition in an input must be equal. */
export const ANNOTATION = {
  "extensions": [
    {
      "file": "",
      "extendee": "google.protobuf.MethodOptions",
      "field": {
        "name": "svc.access.v1.policy",
        "number": 50810,
        "label": "optional",
        "type": "message svc.access.v1.Policy"
      }
    }
  ],
  "messages": [
    {
      "name": "svc.access.v1.Policy",
      "syntax": "proto3",
      "fields": [
        {
          "name": "exposure",
          "number": 1,
          "label": "optional",
          "type": "enum svc.access.v1.Exposure"
        },
        {
          "name": "authz",
          "number": 2,
          "label": "optional",
          "type": "message svc.access.v1.Authz"
        },
        {
          "name": "audit",
          "number": 3,
          "label": "optional",
          "type": "message svc.access.v1.Audit"
        },
        {
          "name": "rate_limit",
          "number": 4,
          "label": "optional",
          "type": "message svc.access.v1.RateLimit"
        },
        {
          "name": "gateway",
          "number": 5,
          "label": "optional",
          "type": "message svc.access.v1.Gateway"
        }
      ],
      "extensionRanges": 0
    },
    {
      "name": "svc.access.v1.Authz",
      "syntax": "proto3",
      "fields": [
        {
          "name": "action",
          "number": 1,
          "label": "optional",
          "type": "string"
        },
        {
          "name": "resource",
          "number": 2,
          "label": "optional",
          "type": "string"
        },
        {
          "name": "audience",
          "number": 3,
          "label": "optional",
          "type": "string"
        },
        {
          "name": "mode",
          "number": 4,
          "label": "optional",
          "type": "enum svc.access.v1.AuthzMode"
        }
      ],
      "extensionRanges": 0
    },
    {
      "name": "svc.access.v1.Audit",
      "syntax": "proto3",
      "fields": [
        {
          "name": "event",
          "number": 1,
          "label": "optional",
          "type": "string"
        },
        {
          "name": "risk_level",
          "number": 2,
          "label": "optional",
          "type": "enum svc.access.v1.RiskLevel"
        },
        {
          "name": "risk",
          "number": 3,
          "label": "optional",
          "type": "enum svc.access.v1.RiskLevel"
        },
        {
          "name": "resource",
          "number": 4,
          "label": "optional",
          "type": "string"
        }
      ],
      "extensionRanges": 0
    },
    {
      "name": "svc.access.v1.RateLimit",
      "syntax": "proto3",
      "fields": [
        {
          "name": "qps",
          "number": 1,
          "label": "optional",
          "type": "int32"
        },
        {
          "name": "burst",
          "number": 2,
          "label": "optional",
          "type": "int32"
        }
      ],
      "extensionRanges": 0
    },
    {
      "name": "svc.access.v1.Gateway",
      "syntax": "proto3",
      "fields": [
        {
          "name": "publish",
          "number": 1,
          "label": "optional",
          "type": "bool"
        },
        {
          "name": "methods",
          "number": 2,
          "label": "repeated",
          "type": "string"
        }
      ],
      "extensionRanges": 0
    }
  ],
  "enums": [
    {
      "name": "svc.access.v1.Exposure",
      "syntax": "proto3",
      "values": [
        [
          "PUBLIC",
          0
        ],
        [
          "AUTHENTICATED",
          1
        ],
        [
          "AUTHORIZED",
          2
        ],
        [
          "INTERNAL",
          3
        ],
        [
          "SYSTEM",
          4
        ]
      ]
    },
    {
      "name": "svc.access.v1.AuthzMode",
      "syntax": "proto3",
      "values": [
        [
          "CHECK_ONLY",
          0
        ]
      ]
    },
    {
      "name": "svc.access.v1.RiskLevel",
      "syntax": "proto3",
      "values": [
        [
          "LOW",
          0
        ],
        [
          "MEDIUM",
          1
        ],
        [
          "HIGH",
          2
        ],
        [
          "CRITICAL",
          3
        ]
      ]
    }
  ]
} as const;
