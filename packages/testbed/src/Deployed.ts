/**
 * The files of `deploy/`, for programs of the tests.
 */
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { reachable } from "./OpenDirectory.ts"

const deploy = fileURLToPath(new URL("../../../deploy", import.meta.url))

/** The path of a file, which the user that runs the programs can read. */
export const deployed = (file: string): string => join(reachable(deploy), file)
