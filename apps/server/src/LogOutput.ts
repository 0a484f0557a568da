/**
 * The terminal's output of a server, which never ends or delays the server: a line that cannot be written, because the
 * disk is full, the reader is gone or the reader is slow, is dropped and counted.
 */
import { Context } from "effect"
import { Console } from "node:console"
import { writeSync } from "node:fs"
import { Socket } from "node:net"
import { Writable } from "node:stream"

/** How many bytes may wait for a slow reader: some thousand lines, so that a short pause of the reader loses none. */
export const mostWaiting = 1024 * 1024

/** Writes text, and calls `lost` if that fails, now or later. */
type Sink = (text: string, lost: () => void) => void

/** Writes to a pipe, a socket or a terminal, whose reader may be slow or gone. */
export const toReader = (stream: Writable): Sink => {
  // without a listener, an error would end the process; each write reports its own error
  stream.on("error", () => {})
  return (text, lost) => {
    if (stream.destroyed || stream.writableLength > mostWaiting) return lost()
    stream.write(text, (error) => {
      if (error) lost()
    })
  }
}

/**
 * Writes to a file or a device. Each line is tried, so lines appear again once the disk has room; Node's own stream
 * would close at the first failure.
 */
export const toFile = (write: (bytes: Uint8Array) => number): Sink => {
  let isTorn = false
  return (text, lost) => {
    let left: Uint8Array = Buffer.from(isTorn ? `\n${text}` : text)
    const { length } = left
    try {
      while (left.length > 0) left = left.subarray(write(left))
      isTorn = false
    } catch {
      // the next line must not continue the beginning of this one
      isTorn ||= left.length < length
      lost()
    }
  }
}

const sinkOf = (stream: Writable & { readonly fd: number }): Sink => {
  if (stream instanceof Socket) return toReader(stream)
  // Node itself writes warnings to this stream: an error of that must not end the process
  stream.on("error", () => {})
  return toFile((bytes) => writeSync(stream.fd, bytes))
}

const linesOf = (text: string): number => Math.max(1, text.split("\n").length - 1)

/** The output of a process, with the number of lines that it dropped. */
export interface LogOutput {
  /** Prints to the output. */
  readonly console: Console
  /** Calls the function with the number of lines dropped so far, and then with each further number. */
  readonly onDropped: (count: (lines: number) => void) => void
}

/** The output of this process. Create it once: from then on, no failure of its standard streams ends the process. */
export const make = (): LogOutput => {
  let dropped = 0
  let counted = (lines: number): void => void (dropped += lines)
  const guarded = (stream: Writable & { readonly fd: number }): Writable => {
    const sink = sinkOf(stream)
    return new Writable({
      decodeStrings: false,
      write: (text: string, _, done) => {
        sink(text, () => counted(linesOf(text)))
        done()
      }
    })
  }
  return {
    console: new Console({
      stdout: guarded(process.stdout),
      stderr: guarded(process.stderr),
      ignoreErrors: false,
      colorMode: process.stdout.isTTY === true
    }),
    onDropped: (count) => {
      count(dropped)
      counted = count
    }
  }
}

/** The output whose dropped lines the server counts; `undefined` if the output is not ours. */
export const Output = Context.Reference<LogOutput | undefined>("@wac/server/LogOutput/Output", {
  defaultValue: () => undefined
})
