/**
 * The keyed hashes by which opt-outs are found (contract §13). Hashes with the pepper.
 */
import { Effect } from "effect"
import type { WorkspaceId } from "../Id.ts"
import type { Vault } from "../secrets/Vault.ts"
import { type Hashes, secretOf } from "./Suppression.ts"

/** The hash of each name of a customer in a workspace. Names are given as `CustomerNames.keyOf` has them. */
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
