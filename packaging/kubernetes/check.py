"""Checks manifests against schemas, without a cluster. It needs pyyaml and jsonschema.

    kubectl kustomize packaging/kubernetes | python3 check.py SCHEMAS CRD...

SCHEMAS is a folder as https://github.com/yannh/kubernetes-json-schema has them (v1.37.0-standalone-strict), CRD a file with a
CustomResourceDefinition, such as KEDA's config/crd/bases/keda.sh_scaledobjects.yaml. Fields that no schema knows are faults.
"""
import json
import sys
from pathlib import Path

import yaml
from jsonschema.validators import validator_for
from referencing import Registry
from referencing.jsonschema import DRAFT4


def closed(schema):
    """The schema of a CRD, which lets unknown fields pass, as one that doesn't."""
    if isinstance(schema, list):
        return [closed(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    schema = {key: closed(part) for key, part in schema.items()}
    if isinstance(schema.get("properties"), dict) and not schema.get("x-kubernetes-preserve-unknown-fields"):
        schema.setdefault("additionalProperties", False)
    if schema.pop("x-kubernetes-int-or-string", False):
        schema = {"type": ["integer", "string"]}
    return schema


def custom(files):
    """Schemas by API version and kind."""
    known = {}
    for file in files:
        crd = yaml.safe_load(Path(file).read_text())["spec"]
        for version in crd["versions"]:
            schema = closed(version["schema"]["openAPIV3Schema"])
            # The API server looks into these, whatever the CRD says.
            schema["properties"]["metadata"] = {"type": "object"}
            known[f"{crd['group']}/{version['name']}", crd["names"]["kind"]] = schema
    return known


def main(folder, *crds):
    folder, known, faults, count = Path(folder), custom(crds), 0, 0
    registry = Registry(retrieve=lambda uri: DRAFT4.create_resource(json.loads((folder / Path(uri).name).read_text())))
    for manifest in filter(None, yaml.safe_load_all(sys.stdin)):
        version, kind = manifest["apiVersion"], manifest["kind"]
        group, _, number = version.rpartition("/")
        file = "-".join(part for part in (kind.lower(), group.split(".")[0], number) if part) + ".json"
        schema = known.get((version, kind)) or json.loads((folder / file).read_text())
        count += 1
        for error in validator_for(schema)(schema, registry=registry).iter_errors(manifest):
            faults += 1
            print(f"{kind} {manifest['metadata']['name']}, {error.json_path}: {error.message}")
    print(f"{count} manifests, {faults} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]) if len(sys.argv) > 1 else __doc__)
