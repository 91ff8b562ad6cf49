"""Checks published OpenAPI documents. usage: validate_openapi.py FILE...  Needs openapi-spec-validator."""
import json
import sys

from openapi_spec_validator import OpenAPIV2SpecValidator, OpenAPIV30SpecValidator

faults = 0
for path in sys.argv[1:]:
    with open(path, encoding="utf-8") as file:
        document = json.load(file)
    validator = OpenAPIV2SpecValidator if "swagger" in document else OpenAPIV30SpecValidator
    for error in validator(document).iter_errors():
        faults += 1
        print("%s: %s: %s" % (path, "/".join(map(str, error.absolute_path)), error.message))
if faults:
    sys.exit("%d faults" % faults)
print("%d documents are valid" % len(sys.argv[1:]))
