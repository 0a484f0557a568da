/**
 * The directory of an embedded database: made, and tried, before PostgreSQL is started in it. PostgreSQL itself takes
 * seconds to find out that it cannot write, and its words for it help nobody.
 */
import { Predicate } from "effect"
import * as fs from "node:fs"
import * as path from "node:path"

/**
 * Makes a directory and what leads to it. One at a time: Node's own way of making several never ends where a directory
 * lets nobody make anything in it and says that it is not there, as `/proc` does.
 */
export const make = (directory: string): void => {
  const whole = path.resolve(directory)
  if (fs.statSync(whole, { throwIfNoEntry: false })?.isDirectory() === true) return
  const parent = path.dirname(whole)
  if (parent !== whole) make(parent)
  fs.mkdirSync(whole, { mode: 0o700 })
}

const MiB = 1024 * 1024

/** A new database is 39 MB, and its log grows by files of 16 MB. */
export const roomOfNew = 64 * MiB

/** One that is there has its room; what it must have is a little more. */
export const roomOfOld = MiB

/** Writes so many bytes into a directory and takes them away again; throws what the system says when it cannot. */
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

/** What went wrong, in a line: of a system's error its code and words, whoever threw it. */
export const describe = (error: unknown): string =>
  error instanceof Error
    ? error.message
    : Predicate.hasProperty(error, "errno")
    ? `its files cannot be read or written (error ${String(error.errno)})`
    : String(error)
