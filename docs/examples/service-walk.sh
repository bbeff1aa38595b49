#!/usr/bin/env bash
# Walks through the service with curl: token, samples, operations, status, results, events.
#
#   windrow serve --demo            prints what to set first:
#   export WINDROW_URL=http://127.0.0.1:8090 WINDROW_CLIENT=… WINDROW_SECRET=…
#   bash docs/examples/service-walk.sh
set -euo pipefail

# The text of a field in JSON that stands on one line, as the service writes it.
field() { sed -n "s/.*\"$1\":\"\([^\"]*\)\".*/\1/p"; }
say() { printf '\n== %s\n' "$1"; }

say 'A token (client credentials)'
token=$(curl -sS --fail-with-body -u "$WINDROW_CLIENT:$WINDROW_SECRET" \
  -d grant_type=client_credentials -d 'scope=core_read core_write core_admin' "$WINDROW_URL/idm/ims/connect/token" | field access_token)
echo "${#token} characters"

call() { curl -sS --fail-with-body -H "Authorization: Bearer $token" "$@"; }

say 'Samples of a room, every five minutes'
call -X POST "$WINDROW_URL/core/samples" -H 'Content-Type: application/json' -d '[
  {"timeseriesId": "room-1", "metric": "Raw", "timestamp": "2026-01-01T08:00:00Z", "val": 20.0},
  {"timeseriesId": "room-1", "metric": "Raw", "timestamp": "2026-01-01T08:05:00Z", "val": 20.5},
  {"timeseriesId": "room-1", "metric": "Raw", "timestamp": "2026-01-01T08:10:00Z", "val": 21.0},
  {"timeseriesId": "room-1", "metric": "Raw", "timestamp": "2026-01-01T08:15:00Z", "val": 23.5}
]'

say 'An operation on them: the average of each quarter of an hour, kept up to date'
transaction=$(call -X POST "$WINDROW_URL/core/operations" -H 'Content-Type: application/json' -d '[{
  "metric": "QuarterHourly",
  "processingType": "stream",
  "operations": [{
    "operation": "Aggregate",
    "input": [{"timeseriesId": "room-1", "metric": "Raw"}],
    "output": [{"timeseriesId": "room-1", "metric": "QuarterHourly"}],
    "parameters": {"function": "Average", "interval": "QuarterHourly"}
  }]
}]' | sed 's/.*"data":{"id":"\([^"]*\)".*/\1/')
echo "transaction $transaction"

say 'Its status, until it is live'
for _ in $(seq 100); do
  state=$(call "$WINDROW_URL/core/status/$transaction" -H 'Content-Type: application/json' | field state)
  if [ "$state" != Created ] && [ "$state" != Running ]; then break; fi
  sleep 0.1
done
echo "$state"

say 'Its results'
call -H 'Accept: text/csv' "$WINDROW_URL/core/timeseries/room-1/samples?metric=QuarterHourly"

say 'A late sample comes, and the result it belongs to is computed anew'
call -X POST "$WINDROW_URL/core/timeseries/room-1/samples" -H 'Content-Type: text/csv' \
  --data-binary $'timestamp,value\n2026-01-01T08:12:00Z,24.5\n'
echo
for _ in $(seq 100); do
  results=$(call -H 'Accept: text/csv' "$WINDROW_URL/core/timeseries/room-1/samples?metric=QuarterHourly")
  if grep -q ',21\.5$' <<<"$results"; then break; fi
  sleep 0.1
done
echo "$results"

say 'Events of a collection, the two latest'
call -G "$WINDROW_URL/core/events" -H 'ercollectionid: demo-building' \
  --data-urlencode '$orderby=occurredAt desc' --data-urlencode '$top=2' --data-urlencode '$select=id,name,occurredAt'
echo
