/**
 * Holds the bytes of files that the database of a restored copy names (contract §10). The database that was copied may
 * be in use beside the copy, with the same object store: there, an upload of the backup may have ended, and a file that
 * is due in the copy may have been used again. So the copy deletes none of their bytes before a person releases its
 * queue, and downloads no file that was awaited, because a download begins by deleting what an earlier try left.
 */
import { Effect, Layer, Ref } from "effect"
import * as Id from "../Id.ts"
import { IsRestored } from "../queue/Heartbeats.ts"
import { QueueStore } from "../queue/QueueStore.ts"
import * as RepeatedFailure from "../RepeatedFailure.ts"
import { StoreError } from "../StoreError.ts"
import { MediaBytes, type Named } from "./MediaBytes.ts"

const told = "the database was restored from a backup: files stay in the object store until a person releases the " +
  "queue (`wac messages confirm`)"

/** Bytes in an object store, which a backup of the database does not contain. */
export const layer = Layer.effect(
  MediaBytes,
  Effect.gen(function*() {
    const { read, remove, write } = yield* MediaBytes
    const queue = yield* QueueStore
    const isRestored = yield* IsRestored
    const log = RepeatedFailure.make()

    const isHeld = Effect.fnUntraced(function*({ id, workspaceId }: Named) {
      // the first heartbeat stores the hold
      if (yield* Ref.get(isRestored)) return true
      const heldSince = yield* queue.heldSince(workspaceId)
      // what the copy itself has begun since is in no other database
      return heldSince !== null && Id.timeOf(id) <= heldSince
    })

    return MediaBytes.of({
      read,
      write,
      remove: Effect.fnUntraced(function*(file) {
        if (!(yield* isHeld(file))) return yield* remove(file)
        yield* log("held", told)
        return yield* new StoreError({ operation: "MediaBytes.remove", isHeld: true })
      })
    })
  })
)
