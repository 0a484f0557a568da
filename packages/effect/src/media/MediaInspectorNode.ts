/**
 * The port `MediaInspector`, with the library `file-type` and Node's SHA-256, which takes a file in pieces.
 */
import { MediaInspector } from "@wac/core"
import { Effect, Layer } from "effect"
import { createHash } from "node:crypto"

/** Loaded on demand, so that hosts without files do not load it. */
const fileType = Effect.promise(() => import("#file-type"))

/**
 * The time limit for recognizing a type: some formats nest, and a file may be made to take long. Loading the library
 * does not count, or the type of the first file would be unknown on a busy machine.
 */
const timeout = "2 seconds"

export const layer = Layer.succeed(
  MediaInspector.MediaInspector,
  MediaInspector.MediaInspector.of({
    begin: () => {
      const hash = createHash("sha256")
      return { take: (bytes) => void hash.update(bytes), digest: () => hash.digest("hex") }
    },
    typeOf: (head) =>
      Effect.flatMap(fileType, ({ fileTypeFromBuffer }) =>
        Effect.promise(() => fileTypeFromBuffer(head)).pipe(
          Effect.map((type) => type?.mime as string | undefined),
          // if the library cannot parse a file, the type is unknown
          Effect.catchCause(() => Effect.undefined),
          Effect.timeoutOrElse({ duration: timeout, orElse: () => Effect.undefined })
        ))
  })
)
