/**
 * Where the dashboard's built pages are.
 */
import { fileURLToPath } from "node:url"

/**
 * `dist/dashboard` of the package that this file is in. It is right from `src`, from `dist`, and from the one `dist` of
 * a program that bundles this code and copies the pages, as `@wac/server` does; for that, this file is one level deep.
 */
export const directory: string = fileURLToPath(new URL("../dist/dashboard/", import.meta.url))
