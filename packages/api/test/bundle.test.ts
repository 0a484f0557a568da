/**
 * What who imports the client alone gets: the client, and nothing of the server.
 */
import { build } from "esbuild"
import { fileURLToPath } from "node:url"
import { assert, describe, it } from "vitest"

const bundle = async (code: string) => {
  const { metafile, outputFiles } = await build({
    stdin: { contents: code, resolveDir: fileURLToPath(new URL("../src/", import.meta.url)), loader: "ts" },
    bundle: true,
    minify: true,
    format: "esm",
    target: "es2022",
    platform: "neutral",
    conditions: ["source"],
    metafile: true,
    logLevel: "silent",
    write: false
  })
  const [output] = Object.values(metafile.outputs)
  return {
    text: outputFiles[0]!.text,
    imports: output!.imports,
    files: Object.entries(output!.inputs).filter(([, { bytesInOutput }]) => bytesInOutput > 0).map(([name]) => name)
  }
}

describe("the client", () => {
  it("brings itself and the verifier, under 10 kB", async () => {
    const { files, imports, text } = await bundle("export * from \"./Client.ts\"")
    assert.deepEqual(imports, [])
    for (const file of files) assert.match(file, /(packages\/api\/src\/Client\w*|packages\/verifier\/src\/\w+)\.ts$/)
    assert.isBelow(text.length, 10_000)
  })

  it("is dropped when it is not used", async () => {
    assert.strictEqual((await bundle("import \"./Client.ts\"")).text.trim(), "")
  })
})
