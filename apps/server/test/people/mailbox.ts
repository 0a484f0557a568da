/**
 * A real SMTP server on loopback for a test, and the mail that it has taken.
 */
import { Effect } from "effect"
import { SMTPServer } from "smtp-server"
import * as checks from "../checks.ts"

/** A mail as it came. */
export interface Received {
  readonly from: string
  readonly to: ReadonlyArray<string>
  /** Headers and body, quoted-printable undone. */
  readonly text: string
}

/** Mail about sign-ins, keys and webhooks, which nearly every test has. */
const notice =
  /^Subject: (You signed in on a new device|Your (passkey|password|second factor) was |Your recovery codes were |A (new|changed|removed) )/m

const unquoted = (text: string): string =>
  text.replaceAll("=\r\n", "").replaceAll(/=([0-9A-F]{2})/g, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)))

/** Takes mail of a user with a password, in the present scope. */
export const mailbox = Effect.gen(function*() {
  const received: Array<Received> = []
  const notices: Array<Received> = []
  const server = yield* Effect.acquireRelease(
    Effect.promise(async () => {
      const server = new SMTPServer({
        disabledCommands: ["STARTTLS"],
        onAuth: ({ password, username }, _, done) =>
          username === "wac" && password === "s3cret" ? done(null, { user: username }) : done(new Error("no")),
        onData: (stream, { envelope: { mailFrom, rcptTo } }, done) => {
          const chunks: Array<Buffer> = []
          stream.on("data", (chunk: Buffer) => chunks.push(chunk))
          stream.on("end", () => {
            const text = unquoted(Buffer.concat(chunks).toString())
            const mails = notice.test(text) ? notices : received
            mails.push({
              from: mailFrom === false ? "" : mailFrom.address,
              to: rcptTo.map(({ address }) => address),
              text
            })
            done()
          })
        }
      })
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
      return server
    }),
    (server) => Effect.promise(() => new Promise<void>((resolve) => server.close(() => resolve())))
  )
  const address = server.server.address()
  const port = typeof address === "object" && address !== null ? address.port : 0
  return {
    url: `smtp://wac:s3cret@127.0.0.1:${port}`,
    /** All mail except notices. */
    received,
    notices,
    /** The notice with a subject to an address, once there is one. */
    notice: (address: string, subject: string): Effect.Effect<Received> =>
      Effect.map(
        checks.until(
          Effect.sync(() =>
            notices.find(({ text, to }) => to.includes(address) && text.includes(`Subject: ${subject}`))
          ),
          (mail) => mail !== undefined
        ),
        (mail) => mail!
      ),
    /** The mail to an address, once there is one. */
    to: (address: string): Effect.Effect<Received> =>
      Effect.map(
        checks.until(
          Effect.sync(() => received.filter(({ to }) => to.includes(address))),
          (mails) => mails.length > 0
        ),
        (mails) => mails.at(-1)!
      )
  }
})

/** The token of the link in a text. */
export const tokenIn = (text: string): string => /#token=([0-9A-Za-z]+)/.exec(text)?.[1] ?? ""
