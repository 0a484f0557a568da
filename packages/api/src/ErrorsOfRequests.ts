/**
 * The errors of invalid requests and of failed authentication: see {@link file://./ErrorReference.ts}.
 */
import { FactorChallenge, Idempotency, Passkey, PlainJson } from "@wac/core"
import { type Entry, type Reasons, retries } from "./ErrorEntry.ts"

const values = PlainJson.maxValues.toLocaleString("en")

export const invalidBody: { readonly [R in Reasons["invalid_body"]]: Entry } = {
  malformed_json: {
    when: "The body is not JSON, is not UTF-8, or did not arrive completely.",
    remedy: "Write the body with a JSON encoder; never build JSON from strings.",
    retry: retries.no,
    example: { message: "the body is not valid JSON" }
  },
  missing_field: {
    when: "A required field is missing; `param` names it.",
    remedy: "Add the field.",
    retry: retries.no,
    example: { message: "template.name is required", param: "template.name" }
  },
  invalid_field: {
    when: "A field, a query parameter or a cursor has an invalid value; `param` names it.",
    remedy:
      "Correct the value. Phone numbers are E.164: `+` and digits only. `to` may also be a customer's user id, as events report it.",
    retry: retries.no,
    example: {
      message: "to: must be a phone number in E.164 format: + and digits only, possible in its country",
      param: "to"
    }
  },
  unknown_field: {
    when:
      "A field or query parameter does not exist; `param` names it. A misspelt name must not send an incomplete message.",
    remedy: "Correct the name, or omit the field.",
    retry: retries.no,
    example: { message: "there is no field template.bodyparams here", param: "template.bodyparams" }
  },
  missing_idempotency_key: {
    when: "The request requires the header `Idempotency-Key` and has none.",
    remedy: "Create one unique key for each send before its first attempt, and keep the key for retries.",
    retry: retries.no,
    example: { message: "the header Idempotency-Key is required", param: "Idempotency-Key" }
  },
  invalid_idempotency_key: {
    when: `The header \`Idempotency-Key\` is not ${Idempotency.keyForm}.`,
    remedy: "Use a UUID, or your own id for the message.",
    retry: retries.no,
    example: { message: `Idempotency-Key must be ${Idempotency.keyForm}`, param: "Idempotency-Key" }
  },
  template_params_mismatch: {
    when:
      "The parameters do not fit the template's placeholders, break the provider's rules for values (no line break, tab or more than four spaces in a row; at most 1,024 characters, 60 in a text header, 15 for a code), or the provider refused them; `param` names the first.",
    remedy:
      "Compare them with the template's `variables` and `components` in `GET /v1/templates`, and put line breaks into the template.",
    retry: retries.no,
    example: {
      message: "the template order_update in en_US takes 2 values, but got 1",
      param: "template.bodyParams"
    }
  },
  undeliverable: {
    when:
      "The provider reports that `to` cannot be reached: it has no WhatsApp account, or the account cannot be messaged.",
    remedy: "Ask the customer to confirm the number, or use another channel.",
    retry: "No: the response is stored for the Idempotency-Key, and the message is `failed`.",
    example: {
      message: "the recipient cannot be reached",
      param: "to",
      provider: { code: "131026", message: "Message undeliverable" }
    }
  },
  too_large: {
    when:
      `The body is larger than 64 KiB (1 MiB or ${values} values for a batch of messages), a file is larger than 100 MB, or a campaign would have more than 10,000,000 rows.`,
    remedy: "Send a smaller body. No valid JSON comes near its limit.",
    retry: retries.no,
    example: { message: "the body is larger than 65536 bytes" }
  },
  unsupported_media_type: {
    when:
      "The header `Content-Type` is not `application/json`, or `Content-Encoding` declares a compressed body. With " +
      "status 400 and `param` `file`: the type of the uploaded file is not known.",
    remedy:
      "Send `Content-Type: application/json` and an uncompressed body. Upload a file in a common format, or text in " +
      "UTF-8.",
    retry: retries.no,
    example: { message: "the body must be JSON: Content-Type: application/json", param: "Content-Type" }
  }
}

export const unauthorized: { readonly [R in Reasons["unauthorized"]]: Entry } = {
  missing_key: {
    when: "The request has no `Authorization` header.",
    remedy: "Send `Authorization: Bearer wac_live_…`.",
    retry: retries.no,
    example: { message: "an API key is required: Authorization: Bearer wac_live_…" }
  },
  invalid_key: {
    when: "The value of `Authorization` is not a key of this service, or the key is bound to other networks.",
    remedy:
      "Check that `Bearer` precedes the key, that the key is complete and has no line break at its end, and that it " +
      "belongs to this server. If the key has `allowedCidrs`, use it from there; behind a proxy, the server needs " +
      "`TRUST_PROXY`.",
    retry: retries.no,
    example: { message: "the API key is not valid" }
  },
  expired_key: {
    when: "The key's `expiresAt` has passed.",
    remedy: "Create and use a new key; see [rotation](guides/rotation.md).",
    retry: retries.no,
    example: { message: "the API key has expired" }
  },
  revoked_key: {
    when: "The key was revoked. Revoking a key also stops its requests in flight.",
    remedy: "Use the key that replaced it, or create a new one.",
    retry: retries.no,
    example: { message: "the API key was revoked" }
  },
  missing_session: {
    when: "An endpoint of the dashboard was called without a valid session, or with an API key.",
    remedy: "Sign in: `POST /internal/session`. A session ends after 12 hours without use, and after 7 days at most.",
    retry: retries.no,
    example: { message: "this endpoint requires a dashboard session; an API key is not enough" }
  },
  invalid_credentials: {
    when: "The e-mail address or the password is wrong, or the set-up link is wrong or already used.",
    remedy: "Check them and try again; the number of failures is limited. A new server logs its set-up link at start.",
    retry: retries.no,
    example: { message: "the e-mail address or the password is wrong" }
  },
  second_factor_required: {
    when: "The password is right, and the account has a second factor.",
    remedy: "Send the error's `challenge` with a code of the authenticator app, a recovery code or a passkey to " +
      "`POST /internal/session/factor` within 5 minutes. An invitation is accepted again with the password and `code`, " +
      "or `credential` of a passkey that has signed the challenge.",
    retry: retries.no,
    example: {
      message: "the password is right, and this account has a second factor: send a code of its authenticator app, a " +
        "recovery code or a passkey with this challenge to POST /internal/session/factor within 5 minutes",
      challenge: "…"
    }
  },
  invalid_code: {
    when: "The code of the second factor is wrong, or it or a later code was used before.",
    remedy:
      "Give the next code of the authenticator app, on a device whose clock is right, or an unused recovery code. " +
      "An owner of your workspaces or the operator can reset your second factor.",
    retry: retries.changed,
    example: {
      message:
        "the code is wrong or was used before: give the next one that your authenticator app shows, or an unused " +
        "recovery code",
      param: "code"
    }
  },
  invalid_passkey: {
    when:
      "The passkey is not one of the account's, was not used for this service's own address, or its signature or its " +
      "counter is wrong.",
    remedy: "Use a passkey that the page Your account lists, at the address at which it was added. An owner of your " +
      "workspaces or the operator can reset your second factor.",
    retry: retries.changed,
    example: {
      message:
        "the passkey was not accepted: use one that is listed on the page Your account, on a page of this service",
      param: "credential"
    }
  },
  challenge_ended: {
    when:
      `The sign-in whose \`challenge\` this is has ended: it was used, it is older than ${FactorChallenge.lasts}, it has ` +
      `had ${FactorChallenge.maxTries} codes, or the password or the second factor has changed. With \`param\` ` +
      `\`credential\`: the challenge that the passkey has signed was used, is older than ${Passkey.lasts}, or is for ` +
      "something else.",
    remedy: "Sign in again: `POST /internal/session`. With `param` `credential`: get other options for the passkey.",
    retry: retries.no,
    example: {
      message: FactorChallenge.ended,
      param: "challenge"
    }
  },
  invalid_signature: {
    when: "The request's `X-Service-Signature` is wrong.",
    remedy: "Sign `<t>.<METHOD>\\n<path and query>\\n<Idempotency-Key>\\n<raw body>` with the key's signing secret.",
    retry: retries.no,
    example: { message: "the request's signature is wrong: signature_mismatch", param: "X-Service-Signature" }
  },
  stale_signature: {
    when: "The timestamp of the request's signature is more than 300 seconds away from the current time.",
    remedy: "Synchronize your clock by NTP, and sign each attempt separately.",
    retry: "Yes, with a new signature.",
    example: {
      message: "the request's signature is more than 300 seconds away from the current time",
      param: "X-Service-Signature"
    }
  },
  missing_signature: {
    when: "The key was created with `requireSignature`, and the request is not signed.",
    remedy: "Sign the request, or use a key that does not require signatures.",
    retry: retries.no,
    example: {
      message: "this API key requires signed requests; the header X-Service-Signature is missing",
      param: "X-Service-Signature"
    }
  }
}
