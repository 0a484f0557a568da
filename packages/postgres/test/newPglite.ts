/**
 * The files of a new embedded database. PGlite's `initdb` makes the same ones each time, in more than two seconds of
 * processor time, so tests make them once: each new database in this process begins with a copy of them.
 */
import { PGlite, type PGliteOptions } from "@electric-sql/pglite"
import { existsSync } from "node:fs"
import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from "node:fs/promises"
import { createRequire } from "node:module"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"

const cache = fileURLToPath(new URL("../../../node_modules/.cache/wac", import.meta.url))

type Create = (options?: PGliteOptions) => Promise<PGlite>

/** PGlite's own, which the class keeps: this file is loaded again for each file of tests, and its class is not. */
const kept = PGlite as { genuine?: Create }
const make: Create = kept.genuine ??= PGlite.create.bind(PGlite)

/** Makes the files of this version, unless that was done before. Returns the path of their archive. */
const archive = async (): Promise<string> => {
  const manifest = join(dirname(createRequire(import.meta.url).resolve("@electric-sql/pglite")), "../package.json")
  const { version }: { readonly version: string } = JSON.parse(await readFile(manifest, "utf8"))
  const path = join(cache, `pglite-${version}.tar`)
  if (existsSync(path)) return path
  await mkdir(cache, { recursive: true })
  const own = await mkdtemp(`${path}-`)
  const database = await make()
  try {
    const files = await database.dumpDataDir("none")
    await writeFile(join(own, "files"), new Uint8Array(await files.arrayBuffer()))
    await rename(join(own, "files"), path)
  } finally {
    await database.close()
    await rm(own, { recursive: true, force: true })
  }
  return path
}

/** The directory of a file system that has one. */
const directoryOf = ({ fs }: PGliteOptions): string | undefined =>
  fs === undefined ? undefined : (fs as unknown as { readonly rootDir: string }).rootDir

const copied = async (options: PGliteOptions = {}): Promise<PGlite> => {
  const directory = directoryOf(options)
  // `initdb` begins with a database without files
  const isNew = options.noInitDb !== true && !(directory !== undefined && existsSync(join(directory, "PG_VERSION")))
  // all bytes at once: another process that made the archive too may replace it while a file's blob is read
  return make(isNew ? { ...options, loadDataDir: new Blob([await readFile(await archive())]) } : options)
}

const replace = (create: Create): void => void Object.assign(PGlite, { create })

/** Lets new databases begin with a copy. */
export const copy = () => replace(copied)

/** Lets `initdb` make each new database, as in production. */
export const genuine = () => replace(make)

copy()
