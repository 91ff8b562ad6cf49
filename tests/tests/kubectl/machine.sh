# What stands for a machine, a container and a cluster in the examples of docs/OPERATING.md. The root of the
# machine is $ROOT. The volumes of the container and of the pod are folders below it.

declare -A servers # their processes, by data directory

serve() { # DATA_DIRECTORY
  mkdir -p "$1" && chmod 700 "$1"
  rm -f "$1.out" # that of the last one
  orch-apiserver --data-dir="$1" --secure-port=0 >"$1.out" 2>"$1.log" &
  servers[$1]=$!
  until grep -s 'Listening on' "$1.out"; do kill -0 "${servers[$1]}"; sleep 0.1; done
}

halt() { # DATA_DIRECTORY
  kill "${servers[$1]}"
  wait "${servers[$1]}"
}

# Runs a command where the volume is at /data.
inside() { # VOLUME COMMAND...
  local volume=$1 argument arguments=()
  shift
  for argument; do
    argument=${argument//\/data\//$volume/}
    arguments+=("${argument/#\/orch-apiserver/orch-apiserver}")
  done
  "${arguments[@]}"
}

# Only a unit that was installed can be enabled.
systemctl() { # enable --now UNIT
  local unit=$3
  if [[ $unit != *.* ]]; then unit+=.service; fi
  [ -f "$ROOT/etc/systemd/system/$unit" ]
  if [[ $unit = *.service ]]; then serve "$ROOT/var/lib/orch-apiserver"; fi
}

docker() { # stop | start | run
  case $1 in
    stop) halt "$ROOT/container/orch" ;;
    start) serve "$ROOT/container/orch" ;;
    run)
      shift
      while [[ $1 = --* ]]; do
        case $1 in --volume | --user) shift 2 ;; *) shift ;; esac
      done
      # The image of the server begins with the server, whose name it has.
      if [ "$1" = busybox ]; then shift; fi
      inside "$ROOT/container" "$@"
      ;;
  esac
}

# What is asked of the cluster. Everything else is asked of the server in it, on a port of its own.
kubectl() {
  if [ "$1" != --namespace ]; then
    local port
    port=$(sed -n 's/^Listening on .*://p' "$ROOT/cluster/orch.out")
    command kubectl "${@/localhost:6443/localhost:$port}"
    return
  fi
  shift 2
  case $1 in
    port-forward) ;;
    exec) shift 3 && inside "$ROOT/cluster" "$@" ;;
    scale) if [ "$4" = --replicas=0 ]; then halt "$ROOT/cluster/orch"; else serve "$ROOT/cluster/orch"; fi ;;
    run) run_pod "$@" ;;
  esac
}

# A pod has to be valid, and then is its command.
run_pod() { # ... --overrides=POD
  local argument overrides arguments
  for argument; do
    case $argument in --overrides=*) overrides=${argument#*=} ;; esac
  done
  jq '. + {apiVersion: "v1", kind: "Pod", metadata: {name: "work"}}' <<<"$overrides" >pod.json
  orch-apiserver validate -f pod.json
  mapfile -t arguments < <(jq -r '.spec.containers[0].command[]' pod.json)
  inside "$ROOT/cluster" "${arguments[@]}"
}

mkdir -p "$ROOT/usr/bin" "$ROOT/etc/systemd/system"
serve "$ROOT/container/orch"
serve "$ROOT/cluster/orch"
orch-apiserver backup --data-dir="$ROOT/cluster/orch" copy.db
