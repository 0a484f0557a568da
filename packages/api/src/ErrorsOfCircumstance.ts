/**
 * The errors of what may not, or cannot, be done as things stand: see {@link file://./ErrorReference.ts}.
 */
import { type Entry, type Reasons, retries } from "./ErrorEntry.ts"

export const forbidden: { readonly [R in Reasons["forbidden"]]: Entry } = {
  missing_scope: {
    when: "The key lacks the scope that the call needs.",
    remedy: "Create a key that has it.",
    retry: retries.no,
    example: { message: "the API key lacks the scope messages:send" }
  },
  role_not_allowed: {
    when: "Your role in the workspace may not do this.",
    remedy: "Ask somebody with the role that the message names.",
    retry: retries.no,
    example: { message: "this needs the role developer; yours is member" }
  },
  cross_site: {
    when: "A request that changes something comes from a page of another origin, or does not say where from.",
    remedy: "From a script, send `Sec-Fetch-Site: same-origin` and no `Origin`. In a browser, open the pages at " +
      "`PUBLIC_URL`; set it where people use a name, `https` or a proxy.",
    retry: retries.no,
    example: {
      message: "the request does not come from this service's own pages; outside a browser, send " +
        "Sec-Fetch-Site: same-origin",
      param: "Sec-Fetch-Site"
    }
  },
  failed_handshake: {
    when: "The provider's webhook was asked to prove itself with a verify token that is not the configured one.",
    remedy: "Enter at Meta the word that `WHATSAPP_VERIFY_TOKEN` holds.",
    retry: retries.no,
    example: { message: "this is not the handshake that was agreed on" }
  },
  outside_service_window: {
    when: "Free-form text, and the customer has not written within the last 24 hours.",
    remedy: "Send an approved template. When the customer answers it, messages of every other kind are allowed again.",
    retry: retries.changed,
    example: {
      message: "free-form messages may be sent only within 24 hours after the recipient last wrote; use a template",
      param: "type"
    }
  },
  template_not_found: {
    when: "The workspace has no template of this name in this language; the language must match exactly.",
    remedy: "Compare with `GET /v1/templates`: `en` is not `en_US`. A new one is there within the hour.",
    retry: retries.changed,
    example: { message: "there is no template order_updates in en_US", param: "template.name" }
  },
  template_not_approved: {
    when: "The template is pending, rejected, paused or disabled at the provider.",
    remedy: "`status` and `rejection_reason` in `GET /v1/templates` say more; use another until it is approved.",
    retry: retries.changed,
    example: { message: "the template pending_review in en_US is pending, not approved", param: "template.name" }
  },
  opted_out: {
    when: "The customer wrote STOP or the like; only templates that are no marketing are sent.",
    remedy: "Respect it. START from the customer ends it.",
    retry: retries.changed,
    example: { message: "the recipient asked not to be written to", param: "to" }
  },
  quota_exhausted: {
    when: "The workspace has sent as many messages this calendar month (UTC) as its quota holds.",
    remedy: "Wait for the next month, or ask the operator for more.",
    retry: retries.changed,
    example: { message: "the workspace's quota for this month is used up" }
  },
  messaging_limit_reached: {
    when: "The number has written to as many customers outside a window within 24 hours as it may.",
    remedy: "Wait, use another number (`from`), or write to those who wrote to you.",
    retry: retries.changed,
    example: {
      message: "this phone number has written to as many customers outside a window as it may within 24 hours"
    }
  },
  sender_not_available: {
    when: "The workspace has no such number, the operator has switched it off, or the provider has blocked it.",
    remedy: "`GET /internal/phone-numbers` says which, since when, and why.",
    retry: retries.changed,
    example: { message: "the workspace has no such phone number to send from", param: "from" }
  },
  workspace_suspended: {
    when: "The operator has suspended the workspace.",
    remedy: "Ask the operator.",
    retry: retries.changed,
    example: { message: "the workspace is suspended" }
  },
  provider_policy: {
    when: "The provider refuses the message by its rules; `provider` has its code and words.",
    remedy: "Read the provider's policy on what its code names. Sending it again can cost the number its rating.",
    retry: "No: the answer is kept for the Idempotency-Key, and the message is `failed`.",
    example: {
      message: "the provider refused the message by its policy",
      provider: { code: "131049", message: "This message was not delivered to maintain healthy ecosystem engagement." }
    }
  },
  phone_number_required: {
    when: "An authentication template, and the customer is known only by their user id at the provider.",
    remedy: "Send the template to the customer's phone number.",
    retry: retries.no,
    example: { message: "an authentication template can be sent only to a phone number", param: "to" }
  },
  media_quota: {
    when: "The workspace's media take up as many bytes as the workspace may keep.",
    remedy: "Delete media that are no longer needed, or ask the operator for more.",
    retry: retries.changed,
    example: { message: "the workspace's media would exceed its quota" }
  },
  frequency_cap: {
    when: "The customer has received as many marketing templates in the last days as the operator allows.",
    remedy: "Send later. Utility and authentication templates are not capped.",
    retry: retries.changed,
    example: { message: "the recipient has received as many marketing messages as the cap allows", param: "to" }
  },
  holdout: {
    when: "The customer belongs to the share of customers that a campaign leaves out, to measure its effect.",
    remedy: "Nothing: the customer is left out on purpose.",
    retry: retries.no,
    example: { message: "the recipient belongs to the campaign's holdout", param: "to" }
  }
}

export const idempotencyConflict: { readonly [R in Reasons["idempotency_conflict"]]: Entry } = {
  payload_mismatch: {
    when: "The Idempotency-Key was used within 24 hours with another body.",
    remedy: "One key for one send. Derive it from what is sent (an order's id), not from the time or a counter.",
    retry: "No. With a new key it is a new send.",
    example: { message: "the Idempotency-Key was used before with another body" }
  }
}

export const rateLimited: { readonly [R in Reasons["rate_limited"]]: Entry } = {
  workspace: {
    when: "The workspace's requests come faster than its tier allows.",
    remedy: "Spread them; `RateLimit` tells on every answer what is left.",
    retry: retries.waiting,
    example: { message: "the workspace sends requests faster than its tier allows" }
  },
  phone_number: {
    when: "The number sends faster than its tier allows.",
    remedy: "Spread the sends, or use further numbers (`from`).",
    retry: retries.waiting,
    example: { message: "the phone number sends faster than its tier allows" }
  },
  pair: {
    when: "One number writes too fast to one customer: one message in 6 seconds, with 45 at once.",
    remedy: "Put what you have to say into fewer messages.",
    retry: retries.waiting,
    example: { message: "this recipient is written to faster than one may" }
  },
  provider: {
    when: "The provider throttles us. Nothing was sent.",
    remedy: "Slow down. If it lasts, set the number's tier to what the provider allows.",
    retry: retries.waiting,
    example: {
      message: "the provider takes no more messages at the moment",
      provider: { code: "130429", message: "Rate limit hit" }
    }
  },
  login: {
    when: "Too many failed sign-ins for this account or from this address.",
    remedy: "Wait. Behind a proxy, set `TRUST_PROXY`, or everybody shares the proxy's address.",
    retry: "Yes, after the time in `Retry-After`.",
    example: { message: "too many failed sign-ins; wait before the next" }
  }
}

export const serverError: { readonly [R in Reasons["server_error"]]: Entry } = {
  internal: {
    when: "An error of the service. The log has it under the `request_id`.",
    remedy: "Tell the operator the `request_id`.",
    retry: retries.backoff,
    example: { message: "an error in the service" }
  },
  provider_error: {
    when: "The provider answered with an error that is none of the request's making. Nothing was sent.",
    remedy: "If it lasts, `provider` says what; an access token that has expired is the operator's to change.",
    retry: retries.backoff,
    example: {
      message: "the provider answered with an error; nothing was sent",
      provider: { code: "131000", message: "Something went wrong" }
    }
  },
  provider_unavailable: {
    when: "The provider could not be reached. Nothing was sent.",
    remedy: "Wait; look at the provider's status page.",
    retry: retries.backoff,
    example: {
      message: "the provider is not available at the moment",
      provider: { code: "131016", message: "Service unavailable" }
    }
  },
  overloaded: {
    when: "More requests are under way than the service takes, or it is being stopped.",
    remedy: "Send more slowly; the operator adds processes.",
    retry: retries.waiting,
    example: { message: "too many sends are in flight; repeat the request with the same Idempotency-Key" }
  },
  storage_unavailable: {
    when: "The service's storage cannot be reached.",
    remedy: "The operator looks after the database.",
    retry: retries.waiting,
    example: { message: "storage is not reachable at the moment" }
  },
  in_progress: {
    when: "The same send, under the same Idempotency-Key, has been running for 10 seconds elsewhere.",
    remedy: "Ask again: the answer is that of the first request.",
    retry: retries.waiting,
    example: { message: "the same send is still running; repeat the request with the same Idempotency-Key" }
  },
  outcome_unknown: {
    when: "The provider may have taken the message, and its answer was lost.",
    remedy: "Ask again with the same key, or wait for `message.sent` or `message.failed`. Never use a new key: " +
      "the customer could get the message twice.",
    retry: "Yes, with the same Idempotency-Key: it never sends twice, and tells the end once it is known.",
    example: {
      message: "the provider did not say whether it took the message; it is not sent again. Repeat the request with " +
        "the same Idempotency-Key to learn its end"
    }
  },
  delivery_unknown: {
    when: "The provider did not say within 10 minutes whether it took the message; it counts as failed.",
    remedy: "Decide whether it is worse to miss the message or to get it twice; a new key sends it anew.",
    retry: "No, unless the provider reports late.",
    example: { message: "the provider never said whether it took the message; it was not sent again" }
  },
  body_already_parsed: {
    when: "The application that embeds the service read the request's body before handing the request over, so the " +
      "service could not check or use it.",
    remedy:
      "The application mounts the service before any body parser: in Express above `express.json()`, in Fastify " +
      "in an `onRequest` hook, elsewhere before anything that reads the request.",
    retry: "No, until the application is changed.",
    example: {
      message: "the request's body was read before it reached wac: mount wac before any body parser (Express: above " +
        "express.json(); Fastify: in an onRequest hook; node:http: before anything reads the request)"
    }
  }
}
