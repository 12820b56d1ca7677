// @ts-nocheck
// Generated from templates/ by npm run generate. DO NOT EDIT.
/** The compiled templates, by name. */
export const TEMPLATES = {
  "access.ts": {"0":function(container,depth0,helpers,partials,data) {
    var stack1, helper, alias1=depth0 != null ? depth0 : (container.nullContext || {}), alias2=container.strict, alias3="function", lookupProperty = container.lookupProperty || function(parent, propertyName) {
        if (Object.prototype.hasOwnProperty.call(parent, propertyName)) {
          return parent[propertyName];
        }
        return undefined
    };

  return ((stack1 = lookupProperty(helpers,"if").call(alias1,lookupProperty(depth0,"rpcs"),{"name":"if","hash":{},"fn":container.program(1, data, 0),"inverse":container.noop,"data":data,"loc":{"start":{"line":7,"column":0},"end":{"line":13,"column":7}}})) != null ? stack1 : "")
    + "/** A full method name of "
    + ((stack1 = (((helper = lookupProperty(helpers,"fullName") || alias2(depth0, "fullName", {"start":{"line":14,"column":28},"end":{"line":14,"column":36}} ))),(typeof helper === alias3 ? helper.call(alias1,{"name":"fullName","hash":{},"data":data,"loc":{"start":{"line":14,"column":26},"end":{"line":14,"column":38}}}) : helper))) != null ? stack1 : "")
    + ". */\nexport type "
    + ((stack1 = (((helper = lookupProperty(helpers,"methods") || alias2(depth0, "methods", {"start":{"line":15,"column":14},"end":{"line":15,"column":21}} ))),(typeof helper === alias3 ? helper.call(alias1,{"name":"methods","hash":{},"data":data,"loc":{"start":{"line":15,"column":12},"end":{"line":15,"column":23}}}) : helper))) != null ? stack1 : "")
    + " = "
    + ((stack1 = lookupProperty(helpers,"each").call(alias1,lookupProperty(depth0,"rpcs"),{"name":"each","hash":{},"fn":container.program(3, data, 0),"inverse":container.program(5, data, 0),"data":data,"loc":{"start":{"line":15,"column":26},"end":{"line":15,"column":113}}})) != null ? stack1 : "")
    + ";\n\n/** The access policies of "
    + ((stack1 = (((helper = lookupProperty(helpers,"fullName") || alias2(depth0, "fullName", {"start":{"line":17,"column":29},"end":{"line":17,"column":37}} ))),(typeof helper === alias3 ? helper.call(alias1,{"name":"fullName","hash":{},"data":data,"loc":{"start":{"line":17,"column":27},"end":{"line":17,"column":39}}}) : helper))) != null ? stack1 : "")
    + ". */\nexport const "
    + ((stack1 = (((helper = lookupProperty(helpers,"policies") || alias2(depth0, "policies", {"start":{"line":18,"column":15},"end":{"line":18,"column":23}} ))),(typeof helper === alias3 ? helper.call(alias1,{"name":"policies","hash":{},"data":data,"loc":{"start":{"line":18,"column":13},"end":{"line":18,"column":25}}}) : helper))) != null ? stack1 : "")
    + ": AccessPolicies<"
    + ((stack1 = (((helper = lookupProperty(helpers,"methods") || alias2(depth0, "methods", {"start":{"line":18,"column":44},"end":{"line":18,"column":51}} ))),(typeof helper === alias3 ? helper.call(alias1,{"name":"methods","hash":{},"data":data,"loc":{"start":{"line":18,"column":42},"end":{"line":18,"column":53}}}) : helper))) != null ? stack1 : "")
    + "> = deepFreeze({\n"
    + ((stack1 = lookupProperty(helpers,"each").call(alias1,lookupProperty(depth0,"rpcs"),{"name":"each","hash":{},"fn":container.program(6, data, 0),"inverse":container.noop,"data":data,"loc":{"start":{"line":19,"column":0},"end":{"line":21,"column":9}}})) != null ? stack1 : "")
    + "});\n\n";
},"1":function(container,depth0,helpers,partials,data) {
    var stack1, helper, alias1=depth0 != null ? depth0 : (container.nullContext || {}), lookupProperty = container.lookupProperty || function(parent, propertyName) {
        if (Object.prototype.hasOwnProperty.call(parent, propertyName)) {
          return parent[propertyName];
        }
        return undefined
    };

  return "// The full method names of "
    + ((stack1 = (((helper = lookupProperty(helpers,"fullName") || container.strict(depth0, "fullName", {"start":{"line":8,"column":30},"end":{"line":8,"column":38}} ))),(typeof helper === "function" ? helper.call(alias1,{"name":"fullName","hash":{},"data":data,"loc":{"start":{"line":8,"column":28},"end":{"line":8,"column":40}}}) : helper))) != null ? stack1 : "")
    + ".\n"
    + ((stack1 = lookupProperty(helpers,"each").call(alias1,lookupProperty(depth0,"rpcs"),{"name":"each","hash":{},"fn":container.program(2, data, 0),"inverse":container.noop,"data":data,"loc":{"start":{"line":9,"column":0},"end":{"line":11,"column":9}}})) != null ? stack1 : "")
    + "\n";
},"2":function(container,depth0,helpers,partials,data) {
    var stack1, helper, alias1=container.strict, alias2=depth0 != null ? depth0 : (container.nullContext || {}), alias3="function", lookupProperty = container.lookupProperty || function(parent, propertyName) {
        if (Object.prototype.hasOwnProperty.call(parent, propertyName)) {
          return parent[propertyName];
        }
        return undefined
    };

  return "export const "
    + ((stack1 = (((helper = lookupProperty(helpers,"constant") || alias1(depth0, "constant", {"start":{"line":10,"column":15},"end":{"line":10,"column":23}} ))),(typeof helper === alias3 ? helper.call(alias2,{"name":"constant","hash":{},"data":data,"loc":{"start":{"line":10,"column":13},"end":{"line":10,"column":25}}}) : helper))) != null ? stack1 : "")
    + " = \""
    + ((stack1 = (((helper = lookupProperty(helpers,"fullName") || alias1(depth0, "fullName", {"start":{"line":10,"column":31},"end":{"line":10,"column":39}} ))),(typeof helper === alias3 ? helper.call(alias2,{"name":"fullName","hash":{},"data":data,"loc":{"start":{"line":10,"column":29},"end":{"line":10,"column":41}}}) : helper))) != null ? stack1 : "")
    + "\";\n";
},"3":function(container,depth0,helpers,partials,data) {
    var stack1, helper, alias1=depth0 != null ? depth0 : (container.nullContext || {}), lookupProperty = container.lookupProperty || function(parent, propertyName) {
        if (Object.prototype.hasOwnProperty.call(parent, propertyName)) {
          return parent[propertyName];
        }
        return undefined
    };

  return ((stack1 = lookupProperty(helpers,"unless").call(alias1,lookupProperty(data,"first"),{"name":"unless","hash":{},"fn":container.program(4, data, 0),"inverse":container.noop,"data":data,"loc":{"start":{"line":15,"column":40},"end":{"line":15,"column":72}}})) != null ? stack1 : "")
    + "typeof "
    + ((stack1 = (((helper = lookupProperty(helpers,"constant") || container.strict(depth0, "constant", {"start":{"line":15,"column":81},"end":{"line":15,"column":89}} ))),(typeof helper === "function" ? helper.call(alias1,{"name":"constant","hash":{},"data":data,"loc":{"start":{"line":15,"column":79},"end":{"line":15,"column":91}}}) : helper))) != null ? stack1 : "");
},"4":function(container,depth0,helpers,partials,data) {
    return " | ";
},"5":function(container,depth0,helpers,partials,data) {
    return "never";
},"6":function(container,depth0,helpers,partials,data) {
    var stack1, helper, alias1=container.strict, alias2=depth0 != null ? depth0 : (container.nullContext || {}), alias3="function", lookupProperty = container.lookupProperty || function(parent, propertyName) {
        if (Object.prototype.hasOwnProperty.call(parent, propertyName)) {
          return parent[propertyName];
        }
        return undefined
    };

  return "  ["
    + ((stack1 = (((helper = lookupProperty(helpers,"constant") || alias1(depth0, "constant", {"start":{"line":20,"column":5},"end":{"line":20,"column":13}} ))),(typeof helper === alias3 ? helper.call(alias2,{"name":"constant","hash":{},"data":data,"loc":{"start":{"line":20,"column":3},"end":{"line":20,"column":15}}}) : helper))) != null ? stack1 : "")
    + "]: "
    + ((stack1 = (((helper = lookupProperty(helpers,"policy") || alias1(depth0, "policy", {"start":{"line":20,"column":20},"end":{"line":20,"column":26}} ))),(typeof helper === alias3 ? helper.call(alias2,{"name":"policy","hash":{},"data":data,"loc":{"start":{"line":20,"column":18},"end":{"line":20,"column":28}}}) : helper))) != null ? stack1 : "")
    + ",\n";
},"7":function(container,depth0,helpers,partials,data) {
    var stack1, helper, alias1=container.strict, alias2=depth0 != null ? depth0 : (container.nullContext || {}), alias3="function", lookupProperty = container.lookupProperty || function(parent, propertyName) {
        if (Object.prototype.hasOwnProperty.call(parent, propertyName)) {
          return parent[propertyName];
        }
        return undefined
    };

  return "export const "
    + ((stack1 = (((helper = lookupProperty(helpers,"policies") || alias1(depth0, "policies", {"start":{"line":27,"column":15},"end":{"line":27,"column":23}} ))),(typeof helper === alias3 ? helper.call(alias2,{"name":"policies","hash":{},"data":data,"loc":{"start":{"line":27,"column":13},"end":{"line":27,"column":25}}}) : helper))) != null ? stack1 : "")
    + ": typeof "
    + ((stack1 = (((helper = lookupProperty(helpers,"onlyPolicies") || alias1(depth0, "onlyPolicies", {"start":{"line":27,"column":36},"end":{"line":27,"column":48}} ))),(typeof helper === alias3 ? helper.call(alias2,{"name":"onlyPolicies","hash":{},"data":data,"loc":{"start":{"line":27,"column":34},"end":{"line":27,"column":50}}}) : helper))) != null ? stack1 : "")
    + " = "
    + ((stack1 = (((helper = lookupProperty(helpers,"onlyPolicies") || alias1(depth0, "onlyPolicies", {"start":{"line":27,"column":55},"end":{"line":27,"column":67}} ))),(typeof helper === alias3 ? helper.call(alias2,{"name":"onlyPolicies","hash":{},"data":data,"loc":{"start":{"line":27,"column":53},"end":{"line":27,"column":69}}}) : helper))) != null ? stack1 : "")
    + ";\n";
},"8":function(container,depth0,helpers,partials,data) {
    var stack1, helper, alias1=container.strict, alias2=depth0 != null ? depth0 : (container.nullContext || {}), alias3="function", lookupProperty = container.lookupProperty || function(parent, propertyName) {
        if (Object.prototype.hasOwnProperty.call(parent, propertyName)) {
          return parent[propertyName];
        }
        return undefined
    };

  return "export const "
    + ((stack1 = (((helper = lookupProperty(helpers,"policies") || alias1(depth0, "policies", {"start":{"line":29,"column":15},"end":{"line":29,"column":23}} ))),(typeof helper === alias3 ? helper.call(alias2,{"name":"policies","hash":{},"data":data,"loc":{"start":{"line":29,"column":13},"end":{"line":29,"column":25}}}) : helper))) != null ? stack1 : "")
    + ": AccessPolicies<"
    + ((stack1 = (((helper = lookupProperty(helpers,"allMethods") || alias1(depth0, "allMethods", {"start":{"line":29,"column":44},"end":{"line":29,"column":54}} ))),(typeof helper === alias3 ? helper.call(alias2,{"name":"allMethods","hash":{},"data":data,"loc":{"start":{"line":29,"column":42},"end":{"line":29,"column":56}}}) : helper))) != null ? stack1 : "")
    + "> = deepFreeze({\n"
    + ((stack1 = lookupProperty(helpers,"each").call(alias2,lookupProperty(depth0,"services"),{"name":"each","hash":{},"fn":container.program(9, data, 0),"inverse":container.noop,"data":data,"loc":{"start":{"line":30,"column":0},"end":{"line":32,"column":9}}})) != null ? stack1 : "")
    + "});\n";
},"9":function(container,depth0,helpers,partials,data) {
    var stack1, helper, lookupProperty = container.lookupProperty || function(parent, propertyName) {
        if (Object.prototype.hasOwnProperty.call(parent, propertyName)) {
          return parent[propertyName];
        }
        return undefined
    };

  return "  ..."
    + ((stack1 = (((helper = lookupProperty(helpers,"policies") || container.strict(depth0, "policies", {"start":{"line":31,"column":7},"end":{"line":31,"column":15}} ))),(typeof helper === "function" ? helper.call(depth0 != null ? depth0 : (container.nullContext || {}),{"name":"policies","hash":{},"data":data,"loc":{"start":{"line":31,"column":5},"end":{"line":31,"column":17}}}) : helper))) != null ? stack1 : "")
    + ",\n";
},"compiler":[8,">= 4.3.0"],"main":function(container,depth0,helpers,partials,data) {
    var stack1, helper, alias1=container.strict, alias2=depth0 != null ? depth0 : (container.nullContext || {}), alias3="function", lookupProperty = container.lookupProperty || function(parent, propertyName) {
        if (Object.prototype.hasOwnProperty.call(parent, propertyName)) {
          return parent[propertyName];
        }
        return undefined
    };

  return "// Code generated by svc-access from "
    + ((stack1 = (((helper = lookupProperty(helpers,"file") || alias1(depth0, "file", {"start":{"line":1,"column":39},"end":{"line":1,"column":43}} ))),(typeof helper === alias3 ? helper.call(alias2,{"name":"file","hash":{},"data":data,"loc":{"start":{"line":1,"column":37},"end":{"line":1,"column":45}}}) : helper))) != null ? stack1 : "")
    + ". DO NOT EDIT.\n/* eslint-disable */\n\nimport { type AccessPolicies, deepFreeze } from \"svc-access/runtime\";\n\n"
    + ((stack1 = lookupProperty(helpers,"each").call(alias2,lookupProperty(depth0,"services"),{"name":"each","hash":{},"fn":container.program(0, data, 0),"inverse":container.noop,"data":data,"loc":{"start":{"line":6,"column":0},"end":{"line":24,"column":9}}})) != null ? stack1 : "")
    + "/** The access policies of "
    + ((stack1 = (((helper = lookupProperty(helpers,"file") || alias1(depth0, "file", {"start":{"line":25,"column":29},"end":{"line":25,"column":33}} ))),(typeof helper === alias3 ? helper.call(alias2,{"name":"file","hash":{},"data":data,"loc":{"start":{"line":25,"column":27},"end":{"line":25,"column":35}}}) : helper))) != null ? stack1 : "")
    + ". */\n"
    + ((stack1 = lookupProperty(helpers,"if").call(alias2,lookupProperty(depth0,"onlyPolicies"),{"name":"if","hash":{},"fn":container.program(7, data, 0),"inverse":container.program(8, data, 0),"data":data,"loc":{"start":{"line":26,"column":0},"end":{"line":34,"column":7}}})) != null ? stack1 : "");
},"useData":true},
  "client.ts": {"0":function(container,depth0,helpers,partials,data) {
    var stack1, helper, alias1=container.strict, alias2=depth0 != null ? depth0 : (container.nullContext || {}), alias3="function", lookupProperty = container.lookupProperty || function(parent, propertyName) {
        if (Object.prototype.hasOwnProperty.call(parent, propertyName)) {
          return parent[propertyName];
        }
        return undefined
    };

  return "/** The HTTP routes of "
    + ((stack1 = (((helper = lookupProperty(helpers,"fullName") || alias1(depth0, "fullName", {"start":{"line":7,"column":25},"end":{"line":7,"column":33}} ))),(typeof helper === alias3 ? helper.call(alias2,{"name":"fullName","hash":{},"data":data,"loc":{"start":{"line":7,"column":23},"end":{"line":7,"column":35}}}) : helper))) != null ? stack1 : "")
    + ", for createHttpClient. */\n"
    + ((stack1 = (((helper = lookupProperty(helpers,"routes") || alias1(depth0, "routes", {"start":{"line":8,"column":2},"end":{"line":8,"column":8}} ))),(typeof helper === alias3 ? helper.call(alias2,{"name":"routes","hash":{},"data":data,"loc":{"start":{"line":8,"column":0},"end":{"line":8,"column":10}}}) : helper))) != null ? stack1 : "")
    + "\n"
    + ((stack1 = lookupProperty(helpers,"unless").call(alias2,lookupProperty(data,"last"),{"name":"unless","hash":{},"fn":container.program(1, data, 0),"inverse":container.noop,"data":data,"loc":{"start":{"line":9,"column":0},"end":{"line":11,"column":11}}})) != null ? stack1 : "");
},"1":function(container,depth0,helpers,partials,data) {
    return "\n";
},"compiler":[8,">= 4.3.0"],"main":function(container,depth0,helpers,partials,data) {
    var stack1, helper, alias1=depth0 != null ? depth0 : (container.nullContext || {}), lookupProperty = container.lookupProperty || function(parent, propertyName) {
        if (Object.prototype.hasOwnProperty.call(parent, propertyName)) {
          return parent[propertyName];
        }
        return undefined
    };

  return "// Code generated by svc-access from "
    + ((stack1 = (((helper = lookupProperty(helpers,"file") || container.strict(depth0, "file", {"start":{"line":1,"column":39},"end":{"line":1,"column":43}} ))),(typeof helper === "function" ? helper.call(alias1,{"name":"file","hash":{},"data":data,"loc":{"start":{"line":1,"column":37},"end":{"line":1,"column":45}}}) : helper))) != null ? stack1 : "")
    + ". DO NOT EDIT.\n/* eslint-disable */\n\nimport { type HttpRoute, httpRoutes } from \"svc-access/runtime\";\n\n"
    + ((stack1 = lookupProperty(helpers,"each").call(alias1,lookupProperty(depth0,"services"),{"name":"each","hash":{},"fn":container.program(0, data, 0),"inverse":container.noop,"data":data,"loc":{"start":{"line":6,"column":0},"end":{"line":12,"column":9}}})) != null ? stack1 : "");
},"useData":true},
  "server.ts": {"0":function(container,depth0,helpers,partials,data,blockParams,depths) {
    var stack1, helper, alias1=container.strict, alias2=depth0 != null ? depth0 : (container.nullContext || {}), alias3="function", lookupProperty = container.lookupProperty || function(parent, propertyName) {
        if (Object.prototype.hasOwnProperty.call(parent, propertyName)) {
          return parent[propertyName];
        }
        return undefined
    };

  return "/** The handlers of "
    + ((stack1 = (((helper = lookupProperty(helpers,"fullName") || alias1(depth0, "fullName", {"start":{"line":2,"column":22},"end":{"line":2,"column":30}} ))),(typeof helper === alias3 ? helper.call(alias2,{"name":"fullName","hash":{},"data":data,"loc":{"start":{"line":2,"column":20},"end":{"line":2,"column":32}}}) : helper))) != null ? stack1 : "")
    + ". A missing handler is a type error. */\n"
    + ((stack1 = (((helper = lookupProperty(helpers,"exportHandlers") || alias1(depth0, "exportHandlers", {"start":{"line":3,"column":2},"end":{"line":3,"column":16}} ))),(typeof helper === alias3 ? helper.call(alias2,{"name":"exportHandlers","hash":{},"data":data,"loc":{"start":{"line":3,"column":0},"end":{"line":3,"column":18}}}) : helper))) != null ? stack1 : "")
    + " {\n"
    + ((stack1 = lookupProperty(helpers,"each").call(alias2,lookupProperty(depth0,"rpcs"),{"name":"each","hash":{},"fn":container.program(1, data, 0, blockParams, depths),"inverse":container.noop,"data":data,"loc":{"start":{"line":4,"column":0},"end":{"line":9,"column":9}}})) != null ? stack1 : "")
    + "}\n\n/** The HTTP routes of "
    + ((stack1 = (((helper = lookupProperty(helpers,"fullName") || alias1(depth0, "fullName", {"start":{"line":12,"column":25},"end":{"line":12,"column":33}} ))),(typeof helper === alias3 ? helper.call(alias2,{"name":"fullName","hash":{},"data":data,"loc":{"start":{"line":12,"column":23},"end":{"line":12,"column":35}}}) : helper))) != null ? stack1 : "")
    + ". */\n"
    + ((stack1 = (((helper = lookupProperty(helpers,"routes") || alias1(depth0, "routes", {"start":{"line":13,"column":2},"end":{"line":13,"column":8}} ))),(typeof helper === alias3 ? helper.call(alias2,{"name":"routes","hash":{},"data":data,"loc":{"start":{"line":13,"column":0},"end":{"line":13,"column":10}}}) : helper))) != null ? stack1 : "")
    + "\n\n/** Binds handlers to "
    + ((stack1 = (((helper = lookupProperty(helpers,"fullName") || alias1(depth0, "fullName", {"start":{"line":15,"column":24},"end":{"line":15,"column":32}} ))),(typeof helper === alias3 ? helper.call(alias2,{"name":"fullName","hash":{},"data":data,"loc":{"start":{"line":15,"column":22},"end":{"line":15,"column":34}}}) : helper))) != null ? stack1 : "")
    + ". */\n"
    + ((stack1 = (((helper = lookupProperty(helpers,"exportBind") || alias1(depth0, "exportBind", {"start":{"line":16,"column":2},"end":{"line":16,"column":12}} ))),(typeof helper === alias3 ? helper.call(alias2,{"name":"exportBind","hash":{},"data":data,"loc":{"start":{"line":16,"column":0},"end":{"line":16,"column":14}}}) : helper))) != null ? stack1 : "")
    + "(handlers: "
    + ((stack1 = (((helper = lookupProperty(helpers,"handlers") || alias1(depth0, "handlers", {"start":{"line":16,"column":27},"end":{"line":16,"column":35}} ))),(typeof helper === alias3 ? helper.call(alias2,{"name":"handlers","hash":{},"data":data,"loc":{"start":{"line":16,"column":25},"end":{"line":16,"column":37}}}) : helper))) != null ? stack1 : "")
    + "): "
    + ((stack1 = (((helper = lookupProperty(helpers,"serviceBinding") || alias1(depth0, "serviceBinding", {"start":{"line":16,"column":42},"end":{"line":16,"column":56}} ))),(typeof helper === alias3 ? helper.call(alias2,{"name":"serviceBinding","hash":{},"data":data,"loc":{"start":{"line":16,"column":40},"end":{"line":16,"column":58}}}) : helper))) != null ? stack1 : "")
    + "<typeof "
    + ((stack1 = (((helper = lookupProperty(helpers,"descriptor") || alias1(depth0, "descriptor", {"start":{"line":16,"column":68},"end":{"line":16,"column":78}} ))),(typeof helper === alias3 ? helper.call(alias2,{"name":"descriptor","hash":{},"data":data,"loc":{"start":{"line":16,"column":66},"end":{"line":16,"column":80}}}) : helper))) != null ? stack1 : "")
    + ", "
    + ((stack1 = (((helper = lookupProperty(helpers,"handlers") || alias1(depth0, "handlers", {"start":{"line":16,"column":84},"end":{"line":16,"column":92}} ))),(typeof helper === alias3 ? helper.call(alias2,{"name":"handlers","hash":{},"data":data,"loc":{"start":{"line":16,"column":82},"end":{"line":16,"column":94}}}) : helper))) != null ? stack1 : "")
    + "> {\n  return {\n    formatVersion: "
    + ((stack1 = container.lambda(alias1(depths[1], "formatVersion", {"start":{"line":18,"column":21},"end":{"line":18,"column":37}} ), depth0)) != null ? stack1 : "")
    + ",\n    service: "
    + ((stack1 = (((helper = lookupProperty(helpers,"descriptor") || alias1(depth0, "descriptor", {"start":{"line":19,"column":15},"end":{"line":19,"column":25}} ))),(typeof helper === alias3 ? helper.call(alias2,{"name":"descriptor","hash":{},"data":data,"loc":{"start":{"line":19,"column":13},"end":{"line":19,"column":27}}}) : helper))) != null ? stack1 : "")
    + ",\n    policies: "
    + ((stack1 = (((helper = lookupProperty(helpers,"policies") || alias1(depth0, "policies", {"start":{"line":20,"column":16},"end":{"line":20,"column":24}} ))),(typeof helper === alias3 ? helper.call(alias2,{"name":"policies","hash":{},"data":data,"loc":{"start":{"line":20,"column":14},"end":{"line":20,"column":26}}}) : helper))) != null ? stack1 : "")
    + ",\n    routes: "
    + ((stack1 = (((helper = lookupProperty(helpers,"routesName") || alias1(depth0, "routesName", {"start":{"line":21,"column":14},"end":{"line":21,"column":24}} ))),(typeof helper === alias3 ? helper.call(alias2,{"name":"routesName","hash":{},"data":data,"loc":{"start":{"line":21,"column":12},"end":{"line":21,"column":26}}}) : helper))) != null ? stack1 : "")
    + ",\n    handlers,\n  };\n}\n\n";
},"1":function(container,depth0,helpers,partials,data,blockParams,depths) {
    var stack1, helper, alias1=depth0 != null ? depth0 : (container.nullContext || {}), alias2=container.strict, alias3="function", lookupProperty = container.lookupProperty || function(parent, propertyName) {
        if (Object.prototype.hasOwnProperty.call(parent, propertyName)) {
          return parent[propertyName];
        }
        return undefined
    };

  return ((stack1 = lookupProperty(helpers,"if").call(alias1,lookupProperty(depth0,"comment"),{"name":"if","hash":{},"fn":container.program(2, data, 0, blockParams, depths),"inverse":container.noop,"data":data,"loc":{"start":{"line":5,"column":0},"end":{"line":7,"column":7}}})) != null ? stack1 : "")
    + "  "
    + ((stack1 = (((helper = lookupProperty(helpers,"property") || alias2(depth0, "property", {"start":{"line":8,"column":4},"end":{"line":8,"column":12}} ))),(typeof helper === alias3 ? helper.call(alias1,{"name":"property","hash":{},"data":data,"loc":{"start":{"line":8,"column":2},"end":{"line":8,"column":14}}}) : helper))) != null ? stack1 : "")
    + ": "
    + ((stack1 = (((helper = lookupProperty(helpers,"handler") || alias2(depth0, "handler", {"start":{"line":8,"column":18},"end":{"line":8,"column":25}} ))),(typeof helper === alias3 ? helper.call(alias1,{"name":"handler","hash":{},"data":data,"loc":{"start":{"line":8,"column":16},"end":{"line":8,"column":27}}}) : helper))) != null ? stack1 : "")
    + "<"
    + ((stack1 = (((helper = lookupProperty(helpers,"request") || alias2(depth0, "request", {"start":{"line":8,"column":30},"end":{"line":8,"column":37}} ))),(typeof helper === alias3 ? helper.call(alias1,{"name":"request","hash":{},"data":data,"loc":{"start":{"line":8,"column":28},"end":{"line":8,"column":39}}}) : helper))) != null ? stack1 : "")
    + ", "
    + ((stack1 = container.lambda(alias2(depths[1], "messageInitShape", {"start":{"line":8,"column":43},"end":{"line":8,"column":62}} ), depth0)) != null ? stack1 : "")
    + "<typeof "
    + ((stack1 = (((helper = lookupProperty(helpers,"response") || alias2(depth0, "response", {"start":{"line":8,"column":74},"end":{"line":8,"column":82}} ))),(typeof helper === alias3 ? helper.call(alias1,{"name":"response","hash":{},"data":data,"loc":{"start":{"line":8,"column":72},"end":{"line":8,"column":84}}}) : helper))) != null ? stack1 : "")
    + ">>;\n";
},"2":function(container,depth0,helpers,partials,data) {
    var stack1, helper, lookupProperty = container.lookupProperty || function(parent, propertyName) {
        if (Object.prototype.hasOwnProperty.call(parent, propertyName)) {
          return parent[propertyName];
        }
        return undefined
    };

  return ((stack1 = (((helper = lookupProperty(helpers,"comment") || container.strict(depth0, "comment", {"start":{"line":6,"column":2},"end":{"line":6,"column":9}} ))),(typeof helper === "function" ? helper.call(depth0 != null ? depth0 : (container.nullContext || {}),{"name":"comment","hash":{},"data":data,"loc":{"start":{"line":6,"column":0},"end":{"line":6,"column":11}}}) : helper))) != null ? stack1 : "")
    + "\n";
},"compiler":[8,">= 4.3.0"],"main":function(container,depth0,helpers,partials,data,blockParams,depths) {
    var stack1, lookupProperty = container.lookupProperty || function(parent, propertyName) {
        if (Object.prototype.hasOwnProperty.call(parent, propertyName)) {
          return parent[propertyName];
        }
        return undefined
    };

  return ((stack1 = lookupProperty(helpers,"each").call(depth0 != null ? depth0 : (container.nullContext || {}),lookupProperty(depth0,"services"),{"name":"each","hash":{},"fn":container.program(0, data, 0, blockParams, depths),"inverse":container.noop,"data":data,"loc":{"start":{"line":1,"column":0},"end":{"line":26,"column":9}}})) != null ? stack1 : "");
},"useData":true,"useDepths":true},
};
