/**
 * Creates an embedded database's directory, and tests it before PostgreSQL starts there. PostgreSQL itself takes
 * seconds to fail if it cannot write, with an unhelpful message.
 */
import type { StoreError } from "@wac/core"
import { Predicate } from "effect"
import * as fs from "node:fs"
import * as path from "node:path"

/**
 * Creates a directory and its parents, one at a time: Node's recursive `mkdir` never returns in a directory such as
 * `/proc`, which refuses new entries with "not found".
 */
export const make = (directory: string): void => {
  const whole = path.resolve(directory)
  if (fs.statSync(whole, { throwIfNoEntry: false })?.isDirectory() === true) return
  const parent = path.dirname(whole)
  if (parent !== whole) make(parent)
  fs.mkdirSync(whole, { mode: 0o700 })
}

/** Where PostgreSQL keeps its files in a directory. The place is absent, or the database is complete. */
export const database = (directory: string): string => path.join(directory, "postgres")

/** Whether a directory holds a database. */
export const holdsDatabase = (directory: string): boolean => fs.existsSync(database(directory))

const MiB = 1024 * 1024

/** A new database takes 39 MB, and its log grows by files of 16 MB. */
export const roomOfNew = 64 * MiB

/** An existing database has its space already and needs only a little more. */
export const roomOfOld = MiB

/** Writes that many bytes into a directory and deletes them again. Throws the system's error if it cannot. */
export const tryWriting = (directory: string, bytes: number): void => {
  const name = path.join(directory, "room")
  const piece = Buffer.alloc(MiB)
  try {
    const file = fs.openSync(name, "w", 0o600)
    try {
      for (let written = 0; written < bytes;) written += fs.writeSync(file, piece)
    } finally {
      fs.closeSync(file)
    }
  } finally {
    fs.rmSync(name, { force: true })
  }
}

/** Whether the disk of a directory has less room than {@link roomOfOld}. */
export const isFull = (directory: string): boolean => {
  const { bavail, bsize } = fs.statfsSync(directory)
  return bavail * bsize < roomOfOld
}

/** Why files cannot be written, if the system's error shows what an operator must correct. */
export const problemOf = (error: unknown): StoreError.Problem | undefined =>
  Predicate.hasProperty(error, "code") && (error.code === "ENOSPC" || error.code === "EDQUOT") ? "disk_full" : undefined

/** Describes an error in one line: an `Error` by its message, an error of PGlite's file system by its number. */
export const describe = (error: unknown): string =>
  error instanceof Error
    ? error.message
    : Predicate.hasProperty(error, "errno")
    ? `its files cannot be read or written (error ${String(error.errno)})`
    : String(error)
