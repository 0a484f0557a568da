/**
 * The generated files are those that the API definition gives. `npx vitest run --project api generated -u` writes them.
 */
import { describe, expect, it } from "vitest"
import { files } from "../generate/GeneratedFiles.ts"

describe("generated files", () => {
  it.each(files)("$path is what the API definition gives", async ({ path, text }) => {
    await expect(text).toMatchFileSnapshot(`../../../${path}`)
  })
})
