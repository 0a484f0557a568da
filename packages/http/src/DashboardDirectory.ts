/**
 * Where the dashboard's built pages are.
 */
import { join } from "node:path"
import { fileURLToPath } from "node:url"

/**
 * Returns the path of `dist/dashboard` in the package that this file is in. The path is right in `src`, in `dist`, and
 * in the `dist` of a program that bundles this code and copies the pages, as `@wac/server` does; therefore this file
 * must be exactly one level below the package. Throws in a CommonJS bundle, which has no `import.meta.url`.
 *
 * The path is computed only when the pages are read, and joined from parts, because bundlers treat
 * `new URL("…", import.meta.url)` as a file that they must find.
 */
export const directory = (): string => join(fileURLToPath(import.meta.url), "../../dist/dashboard")
