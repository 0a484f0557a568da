/**
 * PGlite's files on disk, with the one thing that its own file system omits: `fsync`. Without it, commits reach the
 * operating system, which survives a killed process but not a power failure.
 */
import type { PGlite } from "@electric-sql/pglite"
import type { NodeFS } from "@electric-sql/pglite/nodefs"
import * as fs from "node:fs"
import * as path from "node:path"

type Options = Parameters<NodeFS["init"]>[1]
type Module = Parameters<NonNullable<Options["preRun"]>[number]>[0]

/** Emscripten's record of an open file of the real file system. */
interface Stream {
  readonly nfd: number
  readonly node: { readonly mode: number }
}

const isDirectory = ({ node }: Stream): boolean => (node.mode & fs.constants.S_IFMT) === fs.constants.S_IFDIR

/** Extends PGlite's class of files on disk with `fsync`. */
export const durable = (Files: typeof NodeFS): typeof NodeFS =>
  class extends Files {
    override async init(pg: PGlite, given: Options): Promise<{ emscriptenOpts: Options }> {
      const { emscriptenOpts } = await super.init(pg, given)
      const addSync = (module: Module): void => {
        module.NODEFS.stream_ops.fsync = (stream: Stream): number => {
          if (isDirectory(stream)) fs.fsyncSync(stream.nfd)
          else fs.fdatasyncSync(stream.nfd)
          return 0
        }
      }
      return { emscriptenOpts: { ...emscriptenOpts, preRun: [addSync, ...emscriptenOpts.preRun ?? []] } }
    }
  }

/** Flushes a directory and everything in it to disk. */
export const syncAll = (directory: string): void => {
  for (const entry of fs.readdirSync(directory, { withFileTypes: true })) {
    const name = path.join(directory, entry.name)
    if (entry.isDirectory()) syncAll(name)
    else syncOne(name)
  }
  syncOne(directory)
}

const syncOne = (name: string): void => {
  const file = fs.openSync(name, "r")
  try {
    fs.fsyncSync(file)
  } finally {
    fs.closeSync(file)
  }
}
