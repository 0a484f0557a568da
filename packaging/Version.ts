/**
 * The version in the code, which a bundle has without a manifest beside it.
 */
import { join } from "node:path"
import { root } from "./Published.ts"

/** The module that has it. */
export const file = join(root, "packages/http/src/Version.ts")

const line = /^export const version = "[^"]*"$/m

/** The module's text with another version. */
export const withVersion = (text: string, version: string): string => {
  if (!line.test(text)) throw new Error(`${file} has no version`)
  return text.replace(line, `export const version = "${version}"`)
}
