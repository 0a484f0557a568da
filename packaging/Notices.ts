/**
 * The licences of what a bundle has in it.
 */
import type { Metafile } from "esbuild"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { manifestOf, root } from "./Published.ts"

/** The folders of the packages of others that are in a bundle. */
export const foldersOf = ({ inputs }: Metafile): ReadonlyArray<string> =>
  [
    ...new Set(Object.keys(inputs).flatMap((path) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? []))
  ].sort().map((path) => join(root, path))

/** Name, version and licence of packages of others, as the licences require. */
export const of = (folders: ReadonlyArray<string>): ReadonlyArray<string> =>
  folders.map((folder) => {
    const { license = "unknown", name, version } = manifestOf(folder)
    const texts = readdirSync(folder).filter((file) => /^(licen[cs]e|notice)/i.test(file)).sort()
    return [`${name} ${version} (${license})`, ...texts.map((file) => readFileSync(join(folder, file), "utf8").trim())]
      .join("\n\n")
  })

/** The text of a file with them. */
export const textOf = (folders: ReadonlyArray<string>): string => `${of(folders).join(`\n\n${"-".repeat(72)}\n\n`)}\n`
