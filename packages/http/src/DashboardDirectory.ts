/**
 * Where the dashboard's built pages are.
 */
import { join } from "node:path"
import { fileURLToPath } from "node:url"

/**
 * `dist/dashboard` of the package that this file is in. It is right from `src`, from `dist`, and from the one `dist` of
 * a program that bundles this code and copies the pages, as `@wac/server` does; for that, this file is one level deep.
 * Throws in a bundle in CommonJS, which has no address.
 *
 * Asked for when the pages are read, and put together of parts: bundlers take `new URL("…", import.meta.url)` for a file
 * that they must find.
 */
export const directory = (): string => join(fileURLToPath(import.meta.url), "../../dist/dashboard")
