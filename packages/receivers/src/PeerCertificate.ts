/**
 * Describes a receiver's certificate for the person who has to replace it. The text comes from the receiver, so it is
 * shortened and reduced to plain characters.
 */
import { DateTime, Option } from "effect"
import type { PeerCertificate } from "node:tls"

/** The maximum length of a name from a certificate. */
const maxNameLength = 64

/** The maximum number of a certificate's names. */
const maxNames = 3

const plain = (text: string): string => text.replace(/[^ -~]/g, "?").slice(0, maxNameLength)

/** A part of a distinguished name; Node returns a list if there are several. */
const part = (value: string | ReadonlyArray<string> | undefined): string =>
  plain(typeof value === "string" ? value : value?.[0] ?? "")

const date = (text: string): string =>
  Option.match(DateTime.make(text), { onNone: () => "an unknown date", onSome: DateTime.formatIsoDateUtc })

const names = ({ subject, subjectaltname }: PeerCertificate): string => {
  const all = (subjectaltname ?? "").split(", ")
    .map((name) => name.replace(/^(DNS|IP Address):/, ""))
    .filter((name) => name !== "")
  const shown = all.slice(0, maxNames).map(plain)
  if (shown.length === 0) return part(subject?.CN) || "no name"
  return all.length > maxNames ? `${shown.join(", ")} and ${all.length - maxNames} more` : shown.join(", ")
}

const issuer = ({ issuer, subject }: PeerCertificate): string => {
  const name = [part(issuer?.O), part(issuer?.CN)].filter((text) => text !== "").join(" ") || "nobody"
  return JSON.stringify(issuer) === JSON.stringify(subject) ? `itself (${name})` : name
}

/** "for a.example, issued by Acme CA 1, valid from 2026-01-02 to 2026-04-02"; `null` if there is no certificate. */
export const describe = (certificate: PeerCertificate | null | undefined): string | null =>
  // Node returns an empty object if the peer sent none, and null for a closed socket, which its type leaves out
  certificate?.valid_from === undefined
    ? null
    : `for ${names(certificate)}, issued by ${issuer(certificate)}, ` +
      `valid from ${date(certificate.valid_from)} to ${date(certificate.valid_to)}`
