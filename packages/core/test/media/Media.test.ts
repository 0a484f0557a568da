import { assert, it } from "@effect/vitest"
import { vi } from "vitest"
import * as Media from "../../src/media/Media.ts"

it("a file's name is the last part of its path, without dots and spaces around it", () => {
  const names: ReadonlyArray<readonly [given: string | undefined, kept: string | null]> = [
    ["a.pdf", "a.pdf"],
    ["C:\\files\\a.pdf", "a.pdf"],
    ["../../a.pdf", "a.pdf"],
    ["...a. b.. ", "a. b"],
    [" . . ", null],
    ["a\u0000\u202eb.pdf", "ab.pdf"],
    ["\ud800.pdf", "pdf"],
    [undefined, null]
  ]
  for (const [given, kept] of names) assert.strictEqual(Media.nameOf(given), kept, JSON.stringify(given))
})

it("of a very long name, only the beginning of its last part is cleaned", () => {
  const normalize = vi.spyOn(String.prototype, "normalize")
  try {
    for (const given of [`a${" ".repeat(1_000_000)}b`, `${"x/".repeat(500_000)}${"é".repeat(1_000_000)}`]) {
      const name = Media.nameOf(given)!
      assert.isAtMost(name.length, 240)
    }
    for (const text of normalize.mock.contexts) assert.isAtMost(String(text).length, 1000)
    assert.lengthOf(normalize.mock.contexts, 2)
  } finally {
    normalize.mockRestore()
  }
})

const megabyte = 1024 * 1024

/** Every type that the provider takes, the kind that it is made for, and how large it may be. */
const types: ReadonlyArray<readonly [kind: Media.FileKind, mimeType: string, most: number]> = [
  ["image", "image/jpeg", 5 * megabyte],
  ["image", "image/png", 5 * megabyte],
  ["audio", "audio/aac", 16 * megabyte],
  ["audio", "audio/amr", 16 * megabyte],
  ["audio", "audio/mpeg", 16 * megabyte],
  ["audio", "audio/mp4", 16 * megabyte],
  ["audio", "audio/ogg", 16 * megabyte],
  ["video", "video/mp4", 16 * megabyte],
  ["video", "video/3gpp", 16 * megabyte],
  ["sticker", "image/webp", 500 * 1024],
  ["document", "application/pdf", 100 * megabyte],
  ["document", "text/plain", 100 * megabyte],
  ["document", "application/msword", 100 * megabyte],
  ["document", "application/vnd.ms-excel", 100 * megabyte],
  ["document", "application/vnd.ms-powerpoint", 100 * megabyte],
  ["document", "application/vnd.openxmlformats-officedocument.wordprocessingml.document", 100 * megabyte],
  ["document", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", 100 * megabyte],
  ["document", "application/vnd.openxmlformats-officedocument.presentationml.presentation", 100 * megabyte]
]

const refused = (kind: Media.FileKind, mimeType: string, size: number, isAnimated = true) =>
  Media.refusal(
    { mimeType, size, isAnimated, isOpus: mimeType === "audio/ogg" },
    { kind, param: `${kind}.media`, isVoice: false }
  )

it.each(types)(
  "as %s or as a document, a file of the type %s may have %i bytes and no more",
  (made, mimeType, most) => {
    for (const kind of ["image", "audio", "video", "document", "sticker"] as const) {
      const isTaken = kind === made || kind === "document"
      assert.strictEqual(refused(kind, mimeType, most) === undefined, isTaken, kind)
      assert.deepInclude(refused(kind, mimeType, most + 1), { reason: "invalid_field", param: `${kind}.media` })
    }
  }
)

it.each(["image/gif", "image/heic", "video/webm", "video/quicktime", "application/zip", "image/svg+xml"])(
  "a file of the type %s, which the provider takes for nothing, is not taken as a document either",
  (mimeType) => {
    const error = refused("document", mimeType, 1)
    assert.deepInclude(error, { reason: "invalid_field", param: "document.media" })
    assert.include(error!.message, `this file is ${mimeType}`)
  }
)

it("a sticker that does not move may be smaller than one that does", () => {
  assert.isUndefined(refused("sticker", "image/webp", 100 * 1024, false))
  assert.isDefined(refused("sticker", "image/webp", 100 * 1024 + 1, false))
  assert.isUndefined(refused("document", "image/webp", 500 * 1024, false))
})
