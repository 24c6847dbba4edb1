#!/bin/bash
# Folders of the sources use what is below them; documents have no dead link, no unknown option and no stale table.
set -u
for check in config/check-layers config/check-docs "docs/tables.py --check"; do
  # shellcheck disable=SC2086
  if said=$(cd "$HOPS_SOURCE" && $check 2>&1); then echo "${check%% *}: ok"; else printf '%s: FAILED\n%s\n' "$check" "$said"; fi
done

: <<'END'
/*TEST

  test:

TEST*/
END
