"""Checks objects with an exported JSON schema. usage: validate_objects.py SCHEMA GOOD BAD

GOOD and BAD are files with a JSON list of objects. Every good one has to match, and no bad one. Needs jsonschema."""
import json
import sys

from jsonschema import Draft202012Validator

schema, good, bad = (json.load(open(path, encoding="utf-8")) for path in sys.argv[1:])
Draft202012Validator.check_schema(schema)
validator = Draft202012Validator(schema)
faults = 0
for item in good:
    for error in validator.iter_errors(item):
        faults += 1
        print("%s %s: %s" % (item["kind"], error.json_path, error.message))
for item in bad:
    if validator.is_valid(item):
        faults += 1
        print("not refused: %s" % json.dumps(item))
if faults or not good or not bad:
    sys.exit("%d faults" % faults)
print("%d objects match, %d do not" % (len(good), len(bad)))
