/**
 * Mail to people over SMTP (contract §12 `SMTP_URL`).
 */
import { Mailer } from "@wac/core"
import { Effect, Layer, Redacted } from "effect"
import { createTransport } from "nodemailer"
import type { ServerConfig } from "./ServerConfig.ts"

/** In milliseconds, so that a mail server that does not respond cannot delay a shutdown for longer. */
const timeouts = { connectionTimeout: 5000, greetingTimeout: 5000, socketTimeout: 10_000 }

/** Describes a failure without the server's own message, which may name a person. */
const codeOf = (cause: unknown): string =>
  typeof cause === "object" && cause !== null && "code" in cause ? String(cause.code) : "unknown error"

/** The mailer for a configuration. */
export const layer = (mail: NonNullable<ServerConfig["mail"]>): Layer.Layer<never> => {
  const transport = createTransport({ url: Redacted.value(mail.url), ...timeouts })
  return Layer.succeed(Mailer.Mailer, {
    send: ({ subject, text, to }) =>
      Effect.asVoid(Effect.tryPromise({
        // as an object, so that an address is never parsed as a list of addresses
        try: () => transport.sendMail({ from: mail.from, to: { name: "", address: to }, subject, text }),
        catch: (cause) => new Mailer.MailFailed({ message: codeOf(cause) })
      }))
  })
}
