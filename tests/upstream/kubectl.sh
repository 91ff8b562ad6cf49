#!/usr/bin/env bash
# Plays the reference's own tests of kubectl (test/cmd of its source) at a server of this project. They are not part of
# it: SOURCE is the unpacked module k8s.io/kubernetes, as `go mod download` leaves it.
#
# usage: kubectl.sh SOURCE SERVER      SERVER is the program orch-apiserver
#        kubectl.sh --play NAME        one test, in a process of its own: it ends the process where it fails
#
# The tests whose names are in kubectl.txt must pass. The others need kinds that are not served (deployments, jobs,
# custom resources ...), controllers of such kinds, or programs of the reference's own build.
# Exit status 0 where each of them has passed; the last line reads "N passed, M failed".
set -euo pipefail

# Runs one test of the reference. The resources are those that the tests clear away between them or ask for by name.
play() {
  export HOME=$place/home/$1 KUBE_ROOT=$place KUBE_TEMP=$place/temp/$1 KUBE_JUNIT_REPORT_DIR=$place/junit
  export SECURE_API_PORT=${address##*:} ALLOW_SKEW=1 SED=sed TMPDIR=$place/temp/$1
  # shellcheck disable=SC2034 # the tests read them
  local THIS_PLATFORM_BIN CONTEXT=test SUPPORTED_RESOURCES=(clusterroles configmaps controllerrevisions daemonsets
    namespaces nodes persistentvolumeclaims persistentvolumes pods roles secrets selfsubjectreviews serviceaccounts
    services storageclass subjectaccessreviews)
  THIS_PLATFORM_BIN=$(dirname "$(command -v kubectl)")
  mkdir -p "$HOME" "$KUBE_TEMP"
  cd "$place"
  # shellcheck disable=SC1091 # they come with the source of the reference
  for part in hack/lib/logging.sh hack/lib/util.sh hack/lib/test.sh test/cmd/legacy-script.sh; do source "$part"; done
  kubectl config set-credentials test-admin --token admin-token
  kubectl config set-cluster local --insecure-skip-tls-verify --server "$address"
  kubectl config set-context "$CONTEXT" --user test-admin --cluster local
  kubectl config use-context "$CONTEXT"
  WHAT=$1 runTests
}

if [ "$1" = --play ]; then
  play "$2"
  exit
fi

source=$1 server=$(realpath "$2") names=$(realpath "$(dirname "$0")/kubectl.txt")
place=$(mktemp -d)
trap 'kill "${process:-}" 2>/dev/null || true; rm -rf "$place"' EXIT
# The tests write beside their data.
cp -r "$source/hack" "$source/test" "$source/third_party" "$place"
chmod -R u+w "$place"

# The server, told to let in what the tests begin with: their token, and nothing that fills in more than they expect.
start() {
  local admission=ServiceAccount,DefaultTolerationSeconds,StorageObjectInUseProtection
  "$server" --vocabulary kubernetes --data-dir "$place/data" --secure-port 0 --authorization-mode RBAC,AlwaysAllow \
    --token-auth-file "$place/hack/testdata/auth-tokens.csv" --disable-admission-plugins "$admission" \
    --runtime-config api/all=true >"$place/log" 2>&1 &
  process=$!
  local tries
  for tries in $(seq 100); do
    if [ -s "$place/data/admin.kubeconfig" ]; then
      address=$(sed -n 's/^ *server: //p' "$place/data/admin.kubeconfig")
      if curl -ksf -o /dev/null -H "Authorization: Bearer admin-token" "$address/readyz"; then return; fi
    fi
    kill -0 "$process" 2>/dev/null || break
    sleep 0.1
  done
  cat "$place/log" >&2
  return 1
}

start
kubectl --server "$address" --insecure-skip-tls-verify --token admin-token create -f - >/dev/null <<NODE
{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "127.0.0.1", "annotations": {"save-managers": "true"}},
 "status": {"capacity": {"memory": "1Gi"}}}
NODE
passed=0 failed=0
for name in $(grep -v '^#' "$names"); do
  if place=$place address=$address "$0" --play "$name" >"$place/$name.log" 2>&1; then
    echo "$name: passed"
    passed=$((passed + 1))
  else
    tail -40 "$place/$name.log"
    echo "$name: FAILED"
    failed=$((failed + 1))
  fi
done
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
