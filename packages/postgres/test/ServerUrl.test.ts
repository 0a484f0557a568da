import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import * as ServerUrl from "../src/ServerUrl.ts"

describe("a server's URL", () => {
  it.each([
    ["postgres://u:p@h:1/db", ["postgres://u:p@h:1/db"], "h:1/db"],
    ["postgres://u@h1:1,h2:2/db?sslmode=require", [
      "postgres://u@h1:1/db?sslmode=require",
      "postgres://u@h2:2/db?sslmode=require"
    ], "h1:1,h2:2/db"],
    [
      "postgresql://u:p@[::1]:5433,h2/db",
      ["postgresql://u:p@[::1]:5433/db", "postgresql://u:p@h2/db"],
      "[::1]:5433,h2/db"
    ],
    ["postgres:///db?host=/run/postgresql", ["postgres:///db?host=/run/postgresql"], "/db"],
    ["postgres://u:p%40%2F@h", ["postgres://u:p%40%2F@h"], "h"]
  ])("a URL is split into one for each of its hosts: %s", (text, hosts, name) => {
    assert.deepStrictEqual<unknown>(ServerUrl.parse(text), Result.succeed({ hosts, name }))
  })

  it.each([
    ["hunter2", "it does not begin with postgres://"],
    ["postgres://u:hunter2@h1:1,h2:hunter2/db", "the port of the second host is no number from 1 to 65535"],
    ["postgres://u:hunter2@h:0/db", "the port of the host is no number from 1 to 65535"],
    ["postgres://u:hunter2@h:70000/db", "the port of the host is no number from 1 to 65535"],
    ["postgres://u:hunter2@h1,,h3/db", "the second host is missing"],
    ["postgres://u:hunter2@h1,/db", "the second host is missing"],
    ["postgres://u:hunter2@:5432/db", "the host is missing"],
    [
      "postgres://u:hunter2@::1:5432/db",
      "the host is no name and no address: one of IPv6 stands in brackets, as in [::1]:5432"
    ],
    [
      "postgres://u:hunter2/x@h/db",
      "there is a / ? or # before the @: in a user or a password they are written %2F %3F %23"
    ],
    ["postgres://u:hunter2@x@h/db", "there are two @ before the host: one in a user or a password is written %40"],
    ["postgres://u:hunter2@h h/db", "it is no URL"]
  ])("an invalid URL is refused with the cause and without its text: %s", (text, why) => {
    assert.deepStrictEqual(ServerUrl.parse(text), Result.fail(why))
  })
})
