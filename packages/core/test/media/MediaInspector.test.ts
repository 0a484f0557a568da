import { assert, describe, it } from "@effect/vitest"
import { OfficeCheck, propertiesOf } from "../../src/media/MediaInspector.ts"

const signature = [0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1]

/** A compound file with an entry in its directory for each of these streams, the last of them at its end. */
const compound = (...streams: ReadonlyArray<string>): Uint8Array => {
  const entries = ["Root Entry", ...streams].map((name) =>
    Buffer.concat([Buffer.from(name, "utf16le"), Buffer.alloc(128 - 2 * name.length)])
  )
  return Buffer.concat([Buffer.from(signature), Buffer.alloc(4096 - 8, 0xff), ...entries])
}

const typeOf = (bytes: Uint8Array, size = bytes.length) => {
  const check = new OfficeCheck()
  for (let at = 0; at < bytes.length; at += size) check.take(bytes.subarray(at, at + size))
  return check.end()
}

describe("files of Office before 2007", () => {
  it.each([
    ["application/msword", ["1Table", "WordDocument"]],
    ["application/vnd.ms-excel", ["Workbook"]],
    ["application/vnd.ms-powerpoint", ["Current User", "PowerPoint Document"]],
    ["application/vnd.ms-excel", ["Workbook", "MBD0001", "WordDocument"]],
    [undefined, ["EncryptedPackage"]]
  ])("%s is recognized by its stream, in whatever pieces the bytes come", (type, streams) => {
    for (const size of [1, 7, 64, 4099, 100_000]) assert.strictEqual(typeOf(compound(...streams), size), type)
  })

  it("a file that only holds such a name is none", () => {
    assert.isUndefined(typeOf(Buffer.from("WordDocument\0", "utf16le")))
    assert.isUndefined(typeOf(new Uint8Array()))
  })
})

describe("the type of a file", () => {
  const of = (given: { readonly signature?: string; readonly office?: string; readonly isText: boolean }) => {
    const found = propertiesOf({ signature: undefined, office: undefined, head: new Uint8Array(), size: 10, ...given })
    return "_tag" in found ? found.reason : found.mimeType
  }

  it.each([
    [{ signature: "image/bmp", isText: true }, "text/plain"],
    [{ signature: "application/pdf", isText: true }, "application/pdf"],
    [{ signature: "image/png", isText: false }, "image/png"],
    [{ signature: "application/x-cfb", office: "application/msword", isText: false }, "application/msword"],
    [{ signature: "application/x-cfb", isText: false }, "application/x-cfb"],
    [{ isText: true }, "text/plain"],
    [{ isText: false }, "unsupported_media_type"]
  ])("%j has the type %s", (given, type) => {
    assert.strictEqual(of(given), type)
  })
})
