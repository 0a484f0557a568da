/**
 * The guides that the server serves: the files of the package's `dist/docs`, or of the repository's `docs`.
 */
import type { Guides } from "@wac/http"
import { Effect } from "effect"
import { readdir, readFile } from "node:fs/promises"

/** The folders where the documents may be: in the package, beside its bundled program, and in the repository. */
const folders = [new URL("../dist/docs/", import.meta.url), new URL("../../../docs/", import.meta.url)]

/** The documents outside the folder of guides. */
const others = ["errors.md", "reference/access.md"]

const readFrom = async (folder: URL): Promise<ReadonlyArray<Guides.Guide>> => {
  const names = (await readdir(new URL("guides/", folder))).filter((name) => name.endsWith(".md")).sort()
  const paths = [...names.map((name) => `guides/${name}`), ...others]
  return Promise.all(paths.map(async (path) => ({ path, text: await readFile(new URL(path, folder), "utf8") })))
}

/** Reads the guides; there are none if the program was moved out of its package. */
export const read: Effect.Effect<ReadonlyArray<Guides.Guide>> = Effect.firstSuccessOf(
  folders.map((folder) => Effect.tryPromise(() => readFrom(folder)))
).pipe(Effect.orElseSucceed(() => []))
