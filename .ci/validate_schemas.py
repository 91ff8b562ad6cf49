#!/usr/bin/env python3
"""Checks schema files with a validator that knows nothing of this project: each is an OpenAPI 3.1 document.

usage: validate_schemas.py FOLDER...        (needs: pip install openapi-spec-validator==0.9.0 pyyaml)

A reference to another file is the qualified name of a type, `meta.v1.ObjectMeta`: in the terms of OpenAPI a relative
URI. The folders together are the base of these URIs, so a reference that names no type is an error here as well.
Exit status: 0 where every document is valid.
"""
import pathlib, sys
import yaml
from jsonschema_path import SchemaPath
from openapi_spec_validator import OpenAPIV31SpecValidator

BASE = "https://schemas.invalid/"


def documents(folders):
    for folder in folders:
        paths = sorted(pathlib.Path(folder).glob("*/*/*.yaml"))
        if not paths:
            sys.exit("%s holds no schema file" % folder)
        for path in paths:
            with open(path, encoding="utf-8") as file:
                yield path, yaml.safe_load(file)


def types(document):
    """Every type under its qualified name, as a document in which its local references resolve as well."""
    prefix = "%s.%s." % (document["info"]["title"], document["info"]["version"])
    for name, schema in document["components"]["schemas"].items():
        yield prefix + name, {**schema, "components": document["components"]}


def main(folders):
    found = list(documents(folders))
    known = {name: schema for _, document in found for name, schema in types(document)}

    def resolve(uri):
        name = uri.removeprefix(BASE)
        if name not in known:
            raise LookupError("no type %s is declared" % name)
        return known[name]

    faults = 0
    for path, document in found:
        tree = SchemaPath.from_dict(document, base_uri=BASE, handlers={"https": resolve})
        try:
            errors = [str(error) for error in OpenAPIV31SpecValidator(tree).iter_errors()]
        except Exception as error:  # an unresolvable reference ends the iteration
            errors = [repr(error)]
        for error in errors:
            print("%s: %s" % (path, error))
        faults += len(errors)
    print("%d documents, %d types, %d faults" % (len(found), len(known), faults))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]) if len(sys.argv) > 1 else __doc__)
