/**
 * Classifies failed statements: whether they certainly left nothing behind, whose fault it was, and what the log may
 * say. Pure.
 */
import type { StoreError } from "@wac/core"
import { Predicate } from "effect"
import type { SqlError } from "effect/sql/SqlError"

const property = (value: unknown, name: string): string | undefined =>
  Predicate.hasProperty(value, name) && typeof value[name] === "string" ? value[name] : undefined

/** The server's error code (SQLSTATE), if the error came from the server. */
export const codeOf = (error: SqlError): string | undefined => property(error.reason.cause, "code")

/** The codes cannot_connect_now, crash_shutdown, admin_shutdown and too_many_connections. */
const passingStates = ["57P03", "57P02", "57P01", "53300"]

/** Whether connecting failed, before any statement was sent, and may succeed later. */
const isRefusedConnection = (error: SqlError): boolean =>
  error.reason.operation === "connect" &&
  (error.reason._tag === "ConnectionError" || passingStates.includes(codeOf(error) ?? ""))

/** Whether the statement certainly left nothing behind and a retry may succeed. */
export const isPassing = (error: SqlError): boolean =>
  error.reason._tag === "SerializationError" || error.reason._tag === "DeadlockError" || isRefusedConnection(error)

/** The server ended the connection: it is stopping, or the transaction was idle for too long. */
const endedStates = ["57P01", "57P02", "57P03", "25P03"]

/** Whether the connection was lost, with everything in flight on it. */
export const isLostConnection = (error: SqlError): boolean =>
  error.reason._tag === "ConnectionError" || endedStates.includes(codeOf(error) ?? "")

/**
 * Whether the server refused the statement because of its content (a value, a constraint, a rule of a function). It
 * left nothing behind, and another command of the same batch may be at fault.
 */
export const isOfContent = (error: SqlError): boolean =>
  error.reason.operation !== "connect" && /^(21|22|23|54|P0)/.test(codeOf(error) ?? "")

/** The server's codes for a database that cannot be written until an operator acts. */
const problems: { readonly [code: string]: StoreError.Problem } = {
  "25006": "read_only",
  "53100": "disk_full",
  "42501": "not_permitted",
  "3F000": "no_schema",
  "42P01": "no_schema",
  "58030": "io_error",
  "58P01": "io_error"
}

/**
 * Whether the server could not write its catalog cache file when a session began, mostly because its disk is full. The
 * code is that of any internal error, so the message is compared, which is always in English.
 */
const isWithoutInitFile = (error: SqlError): boolean =>
  codeOf(error) === "XX000" && property(error.reason.cause, "message") === "could not write init file"

/** Why the database cannot be written, if that is what the failure shows. */
export const problemOf = (error: SqlError): StoreError.Problem | undefined =>
  isWithoutInitFile(error) ? "io_error" : problems[codeOf(error) ?? ""]

/**
 * Whether the client threw while it encoded a statement's parameters or decoded a row. The server reported no error.
 * After a failure to decode, the client has closed the connection.
 */
export const isOfClient = (error: SqlError): boolean =>
  error.reason._tag === "UnknownError" && error.reason.operation === "query" && codeOf(error) === undefined

/** Whether the server responded to the statement with an error, so that the connection is usable. */
export const isOfServer = (error: SqlError): boolean => codeOf(error) !== undefined && !isLostConnection(error)

/**
 * Whether repeating the statement with the same values fails again: one of them is invalid (22), or too large or too
 * complex (54). Constraints (23) may also fail because of rows that others have just written.
 */
export const isLasting = (error: SqlError): boolean => /^(22|54)/.test(codeOf(error) ?? "")

/**
 * Describes a failure for the log. Messages of the data classes (22, 23) are omitted, since they quote values.
 * Parameters and the server's `detail` never appear.
 */
export const describe = (error: SqlError): string => {
  const { cause, message } = error.reason
  const code = codeOf(error)
  const text = property(cause, "message")
  const quotesValues = /^2[23]/.test(code ?? "")
  return [
    quotesValues || text === undefined || isOfClient(error) ? message ?? error.reason._tag : text,
    code,
    property(cause, "constraint"),
    quotesValues ? property(cause, "routine") : undefined
  ].filter((part) => part !== undefined && part !== "").join(", ")
}
