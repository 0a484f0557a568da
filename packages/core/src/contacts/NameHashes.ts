/**
 * Computes the keyed hashes of names under which opt-outs are stored (contract §13). The key is the pepper.
 */
import { Effect } from "effect"
import type { WorkspaceId } from "../Id.ts"
import type { Vault } from "../secrets/Vault.ts"
import { type Hashes, secretOf } from "./Suppression.ts"

/** The hash of each name in a workspace, by name. Names are in the form that `CustomerNames.keyOf` returns. */
export const of = (
  vault: Vault["Service"],
  workspaceId: WorkspaceId,
  names: ReadonlyArray<string>
): Effect.Effect<Hashes> =>
  Effect.map(
    Effect.forEach([...new Set(names)], (name) =>
      Effect.map(vault.fingerprint(secretOf(workspaceId, name)), (hash) => [name, hash] as const)),
    Object.fromEntries
  )
