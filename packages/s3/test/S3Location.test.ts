import { assert, it } from "vitest"
import { S3Location } from "../src/index.ts"

it.each([
  ["s3://files", { bucket: "files", prefix: "" }],
  ["s3://files/", { bucket: "files", prefix: "" }],
  ["s3://my.files-1/wac", { bucket: "my.files-1", prefix: "wac/" }],
  ["s3://files/a/b_c/", { bucket: "files", prefix: "a/b_c/" }]
])("%s is a bucket and a prefix", (text, location) => {
  assert.deepEqual(S3Location.parse(text), location)
})

it.each([
  "",
  "storage",
  "s3:files",
  "s3://",
  "s3:///files",
  "s3://a",
  "s3://files//wac",
  "s3://files/a b",
  "s3://files/ä",
  "s3://key:secret@files",
  "s3://files?x=1",
  `s3://files/${"a".repeat(600)}`
])("%s is no location", (text) => {
  assert.isUndefined(S3Location.parse(text))
})
