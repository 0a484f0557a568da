/**
 * `npm run describe`: writes the description of the project in the root's `package.json` into the manifest of each
 * published package.
 */
import * as Descriptions from "./Descriptions.ts"

Descriptions.write()
