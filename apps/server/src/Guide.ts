/**
 * The terminal's output at the first start: addresses, and three commands that send a first message.
 */

/** The facts that the guide shows. */
export interface Guide {
  readonly listening: string
  readonly publicUrl: string
  readonly storage: string
  readonly provider: string
  /** How the owner signs in: by the one-time link, or with the environment's e-mail address and password. */
  readonly signIn:
    | { readonly _tag: "SetupLink"; readonly token: string; readonly suggestedPassword: string }
    | {
      readonly _tag: "Owner"
      readonly email: string
      /** Omitted if the password comes from the reader's environment. */
      readonly password?: string
    }
}

/** JSON to be written between the single quotes of a shell, which nothing in it ends. */
const within = (value: unknown): string => JSON.stringify(value).replaceAll("'", "'\\''")

const quoted = (value: unknown): string => `'${within(value)}'`

const curl = (...parts: ReadonlyArray<string>): string => ["curl -sS", ...parts].join(" \\\n  ")

const json = "-H 'Content-Type: application/json'"
/** Browsers send this header automatically; it prevents other sites from acting for a signed-in person. */
const ownPage = "-H 'Sec-Fetch-Site: same-origin'"
const cookies = "wac.cookies"

const signIn = ({ publicUrl, signIn }: Guide): string =>
  signIn._tag === "SetupLink"
    ? curl(
      `-c ${cookies} ${publicUrl}/internal/setup`,
      `${json} ${ownPage}`,
      `-d ${
        quoted({
          token: signIn.token,
          email: "owner@example.com",
          password: signIn.suggestedPassword,
          workspaceName: "My workspace"
        })
      }`
    )
    : curl(
      `-c ${cookies} ${publicUrl}/internal/session`,
      `${json} ${ownPage}`,
      signIn.password === undefined
        ? `-d '{"email":${within(signIn.email)},"password":"'"$WAC_OWNER_PASSWORD"'"}'`
        : `-d ${quoted({ email: signIn.email, password: signIn.password })}`
    )

const createKey = ({ publicUrl }: Guide): string =>
  `KEY=$(${
    curl(
      `-b ${cookies} ${publicUrl}/internal/api-keys`,
      `${json} ${ownPage} -H 'Idempotency-Key: first-key'`,
      `-d '{"name":"first"}'`
    )
  } | sed -n 's/.*"apiKey":"\\([^"]*\\)".*/\\1/p'); echo "$KEY"`

const send = ({ publicUrl }: Guide): string =>
  curl(
    `${publicUrl}/v1/messages`,
    `-H "Authorization: Bearer $KEY" ${json} -H 'Idempotency-Key: first-send'`,
    `-d ${quoted({ to: "+15551234567", type: "template", template: { name: "hello_world", language: "en_US" } })}`
  )

/** The text, ready for a terminal. */
export const text = (guide: Guide): string => `
wac is listening on ${guide.listening}
  storage   ${guide.storage}
  provider  ${guide.provider}
  sign in   ${
  guide.signIn._tag === "SetupLink"
    ? `open ${guide.publicUrl}/setup#${guide.signIn.token} once to create the owner`
    : `as ${guide.signIn.email}`
}
  docs      ${guide.publicUrl}/docs

Try it, in another terminal:

# 1. sign in
${signIn(guide)}

# 2. create an API key
${createKey(guide)}

# 3. send a message
${send(guide)}
`
