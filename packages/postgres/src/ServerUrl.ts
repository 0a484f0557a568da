/**
 * Parses the URL of a PostgreSQL server, or of several of which one is the primary, as libpq does:
 * `postgres://user:password@host:port,host:port/database?sslmode=…`. Pure.
 */
import { Result } from "effect"

/** A parsed URL. */
export interface ServerUrl {
  /** A URL for each host, in order, with all other parts of the URL. */
  readonly hosts: readonly [string, ...ReadonlyArray<string>]
  /** The destination for operators, without credentials. */
  readonly name: string
}

const form = /^(postgres(?:ql)?:\/\/)([^/?#]*)((?:[/?#].*)?)$/s

const place = /^(\[[^\]]*\]|[^:[\]]*)(?::([^:]*))?$/s

const numbers = ["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth"]

/** The fault of a host and its port, if any. */
const wrongPlace = (text: string, of: string, isOnly: boolean): string | undefined => {
  const found = place.exec(text)
  if (found === null) return `${of} is no name and no address: one of IPv6 stands in brackets, as in [::1]:5432`
  const [, host, port] = found
  if (host === "" && !(isOnly && port === undefined)) return `${of} is missing`
  if (port !== undefined && port !== "" && !(/^[0-9]{1,5}$/.test(port) && Number(port) >= 1 && Number(port) <= 65535)) {
    return `the port of ${of} is no number from 1 to 65535`
  }
  return undefined
}

/** Parses a URL, or describes what is wrong with it without quoting it, since it holds a password. */
export const parse = (text: string): Result.Result<ServerUrl, string> => {
  const found = form.exec(text)
  if (found === null) return Result.fail("it does not begin with postgres://")
  const [, scheme, authority, rest] = found as unknown as [string, string, string, string]
  if (!authority.includes("@") && /^[^?]*@/.test(rest)) {
    return Result.fail("there is a / ? or # before the @: in a user or a password they are written %2F %3F %23")
  }
  const at = authority.lastIndexOf("@") + 1
  const user = authority.slice(0, at)
  if (user.slice(0, -1).includes("@")) {
    return Result.fail("there are two @ before the host: one in a user or a password is written %40")
  }
  const places = authority.slice(at).split(",")
  for (const [i, one] of places.entries()) {
    const of = places.length === 1 ? "the host" : `the ${numbers[i] ?? `${i + 1}th`} host`
    const wrong = wrongPlace(one, of, places.length === 1)
    if (wrong !== undefined) return Result.fail(wrong)
  }
  const urls = places.map((one) => `${scheme}${user}${one}${rest}`)
  if (!urls.every((url) => URL.canParse(url))) return Result.fail("it is no URL")
  const [first, ...others] = urls
  return Result.succeed({
    hosts: [first!, ...others],
    name: `${places.join(",")}${new URL(first!).pathname}`
  })
}
