import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import * as BodyShape from "../../src/requests/BodyShape.ts"
import * as BodyValues from "../../src/requests/BodyValues.ts"
import { checks } from "../checks.ts"

const known = new Set([
  "to",
  "type",
  "text",
  "body",
  "template",
  "template_b",
  "name",
  "language",
  "bodyParams",
  "buttons",
  "code",
  "urlSuffix",
  "messages",
  "count",
  "flow_token",
  "flowToken",
  "password",
  "credential",
  "id",
  "flow_action_payload",
  "screen",
  "link"
])

const unchecked = (json: unknown) => BodyValues.of(json, known)

/** The values that are kept, by path, if no template carries codes. */
const kept = (json: unknown, carriesCode = (_: string) => false) =>
  BodyValues.checked(unchecked(json), carriesCode).fields.map(({ path, value }) => [path, value])

const ulid = "01K8ZQ50V4W6X8Y0Z1A3B5C7DE"
const base62 = "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1"

/** Texts that are secrets by their form. */
const secrets: ReadonlyArray<string> = [
  `wac_live_${base62}a1B2c3`,
  `whsec_${base62}aB3dE5gH7j`,
  "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw+/MfKQ==",
  "EAAGm0PX4ZCpsBAKZCz5ZAEAAGm0PX4ZCpsBAKZCz5ZA",
  "0123456789abcdef0123456789abcdef",
  base62,
  "Yp7-Tq3_Zk9-Lm2_Xw8-Vb4_Rn6-Hd1_Fc5-Js0-Gt2",
  "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U",
  "123456789012345|abcDEF0123456789ghiJKL",
  "Bearer abcdefgh12345678",
  "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk",
  "iVBORw0KGgo+AAAA/NSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk"
]

describe("the values of a body", () => {
  it("values are kept of known fields, of lists those of every item", () => {
    const body = {
      to: "+15551234567",
      count: 7,
      type: null,
      text: { body: "Hello" },
      secret: "x",
      messages: [{ to: "a" }, { to: "b", secret: "x" }]
    }
    assert.deepStrictEqual(kept(body), [
      ["to", "+15551234567"],
      ["count", 7],
      ["type", null],
      ["text.body", "Hello"],
      ["messages[0].to", "a"],
      ["messages[1].to", "b"]
    ])
    const paths = BodyShape.of(body, known).map(({ path }) => path)
    for (const [path] of kept(body)) assert.include(paths, String(path).replace("[1]", "[0]"))
  })

  it("fields for codes, tokens and passwords have no value, nor has anything in them", () => {
    const body = {
      code: "4711",
      flow_token: "t",
      flowToken: 5,
      password: "hunter2",
      credential: { id: "abc", name: { text: "def" } },
      template: { name: "order", buttons: [{ type: "copy_code", code: "SAVE20" }] }
    }
    assert.deepStrictEqual(
      kept(body).filter(([, value]) => value !== BodyValues.mark),
      [["template.name", "order"], ["template.buttons[0].type", "copy_code"]]
    )
    for (const { isRedacted, value } of unchecked({ code: 4711, flowToken: false }).fields) {
      assert.isTrue(isRedacted)
      assert.strictEqual(value, BodyValues.mark)
    }
  })

  it("of a template that carries codes its name and language are kept alone, wherever it is in the body", () => {
    const otp = { name: "login", language: "en", bodyParams: ["Q7X"], buttons: [{ urlSuffix: "Q7X" }] }
    const order = { name: "order", bodyParams: ["Ana"] }
    const of = (name: string) => name === "login"
    for (
      const [place, body] of [["", { template: otp, template_b: order }], ["messages[0].", {
        messages: [{ template: otp, template_b: order }]
      }]] as const
    ) {
      assert.deepStrictEqual(kept(body, of), [
        [`${place}template.name`, "login"],
        [`${place}template.language`, "en"],
        [`${place}template.bodyParams[0]`, BodyValues.mark],
        [`${place}template.buttons[0].urlSuffix`, BodyValues.mark],
        [`${place}template_b.name`, "order"],
        [`${place}template_b.bodyParams[0]`, "Ana"]
      ])
    }
    // a template without a name is no template that is known
    assert.deepStrictEqual(kept({ template: { name: 5, bodyParams: ["Q7X"] } }), [
      ["template.name", 5],
      ["template.bodyParams[0]", BodyValues.mark]
    ])
  })

  it("a text keeps what has no form of a secret", () => {
    for (
      const text of [
        "Your order 2026-1128 has left our store in Berlin-Charlottenburg.",
        `see msg_${ulid} and req_${ulid}`,
        "wamid.HBgLMTU1NTEyMzQ1NjcVAgARGBI5QTNDQTVCM0Q0Q0Q2RTY3RTcA",
        "0b5d9a56-4f0e-4c8e-9d7a-2f1b3c4d5e6f",
        "invoice_2026_11_29_final.pdf",
        "order_update_v2_2026_summer",
        "+49 30 1234567",
        "https://example.com/orders/2026/november/invoice.pdf",
        "Donaudampfschifffahrtsgesellschaft"
      ]
    ) assert.strictEqual(BodyValues.redacted(text), text)
  })

  it("a text loses what has the form of a key, a token or a secret, and one-time codes that it announces", () => {
    for (const secret of secrets) {
      for (
        const text of [secret, `use ${secret} now`, `(${secret})`, `key="${secret}";`, `https://example.com/${secret}`]
      ) {
        const without = BodyValues.redacted(text)
        assert.notInclude(without, secret)
        assert.include(without, BodyValues.mark)
      }
    }
    assert.strictEqual(
      BodyValues.redacted("https://ana:pw@files.example.com/a.pdf?sig=abc&x=1#t, https://example.com/b#frag"),
      "https://[redacted]@files.example.com/a.pdf?[redacted] https://example.com/b#[redacted]"
    )
    assert.strictEqual(BodyValues.redacted("Your code is 123456."), "Your code is [redacted]")
    assert.strictEqual(BodyValues.redacted("123 456 is your code"), "[redacted] is your code")
    assert.strictEqual(BodyValues.redacted("4711 ist Ihr Kennwort"), "[redacted] ist Ihr Kennwort")
    assert.strictEqual(BodyValues.redacted("Password: hunter2"), "Password: [redacted]")
  })

  it("a text in any language loses the digits of a code that it announces", () => {
    for (
      const text of [
        "Ihr Bestätigungscode lautet 482913",
        "Sicherheitscode: 482913",
        "Ihr Einmalpasswort 482913",
        "mTAN 482913",
        "Ihre smsTAN: 482913",
        "pushTAN-Nummer 482913",
        "TAN_482913",
        "Uw verificatiecode is 482913",
        "Je wachtwoord 482913",
        "Doğrulama kodunuz 482913",
        "Şifreniz 482913",
        "Su clave es 482913",
        "Tu código de verificación: 482 913",
        "Su contraseña temporal es 482913",
        "Codul dvs. este 482913",
        "Sua senha é 482913",
        "Votre mot de passe 482913",
        "La tua parola d'ordine 482913",
        "Ваш код 482913",
        "Пароль: 482913",
        "ПИН 482913",
        "Twoje hasło 482913",
        "Kod weryfikacyjny 482913",
        "Ověřovací kód 482913".normalize("NFD"),
        "Ditt lösenord 482913",
        "Din engångskod är 482913",
        "Vahvistuskoodi 482913",
        "Ο κωδικός σας είναι 482913",
        "קוד האימות שלך 482913",
        "رمز التحقق ٤٨٢٩١٣",
        "आपका ओटीपी 482913",
        "รหัสของคุณคือ 482913",
        "Mã xác nhận của bạn là 482913",
        "验证码 482913",
        "驗證碼：482913",
        "您的动态密码为482913",
        "認証コードは482913です",
        "パスワードは482913です",
        "인증번호 482913",
        "Verification_code 482913",
        "passcodes 482913",
        "OTPs: 482913",
        "PINs 4829",
        "G-482913 is your code",
        "Your code: 48-29-13",
        "Your code: 4 8 2 9 1 3",
        "Your code: 482\u00a0913"
      ]
    ) {
      const without = BodyValues.redacted(text)
      assert.include(without, BodyValues.mark, text)
      assert.notMatch(without, /\p{Nd}/u, text)
    }
  })

  it("a text whose words only contain an abbreviation for a code keeps its digits", () => {
    for (const text of ["Shopping 2026", "Ihre Tante wohnt in 10115 Berlin", "Opinion 48291", "Hotplate 4829"]) {
      assert.strictEqual(BodyValues.redacted(text), text)
    }
  })

  it("a secret without digits is removed after the word that announces it, alone or in a compound", () => {
    for (
      const [text, expected] of [
        ["Sicherheitscode: hunter", "Sicherheitscode: [redacted]"],
        ["Verification_code is hunter", "Verification_code is [redacted]"],
        ["Passcodes: hunter", "Passcodes: [redacted]"],
        ["Пароль: hunter", "Пароль: [redacted]"],
        ["密码：hunter", "密码：[redacted]"],
        ["mTAN=hunter", "mTAN=[redacted]"]
      ] as const
    ) assert.strictEqual(BodyValues.redacted(text), expected)
  })

  it("a long text is redacted in a time that grows with its length alone", () => {
    for (const piece of ["code ", "code", "1 ", "1", "api_key ", "tan-", "k\u0327od", "cod e i u "]) {
      const text = piece.repeat(200_000 / piece.length)
      const start = performance.now()
      BodyValues.redacted(text)
      assert.isBelow(performance.now() - start, 2000, piece)
    }
  })

  it("a long text is cut after it was redacted, between characters, and says so", () => {
    const long = "x y ".repeat(BodyValues.maxLength)
    const [field] = unchecked({ to: long }).fields
    assert.deepStrictEqual(field, {
      path: "to",
      value: long.slice(0, BodyValues.maxLength),
      isRedacted: false,
      isCut: true
    })
    const [half] = unchecked({ to: " ".repeat(BodyValues.maxLength - 1) + "😀" }).fields
    assert.deepStrictEqual(half, {
      path: "to",
      value: " ".repeat(BodyValues.maxLength - 1),
      isRedacted: false,
      isCut: true
    })
    const [across] = unchecked({ to: " ".repeat(BodyValues.maxLength - 12) + secrets[0]! }).fields
    assert.isTrue(across!.isRedacted)
    assert.notInclude(String(across!.value), "wac_live")
  })

  it("the values of one request are bounded, and those that are left out are counted", () => {
    const names = Array.from({ length: 45 }, (_, i) => `f${i}`)
    const { fields, omitted } = BodyValues.of(
      Object.fromEntries(names.map((name) => [name, "é ".repeat(200)])),
      new Set(names)
    )
    assert.isAbove(fields.length, 10)
    assert.strictEqual(fields.length + omitted, names.length)
    const size = (values: object) => new TextEncoder().encode(JSON.stringify(values)).length
    assert.isAtMost(fields.reduce((sum, field) => sum + size(field), 0), BodyValues.maxBytes)
  })

  it("of lists of any length a thousand fields are looked at, in the order in which they stand", () => {
    const { fields, omitted } = BodyValues.of({ bodyParams: Array.from({ length: 20_000 }, (_, i) => i) }, known)
    assert.deepStrictEqual(fields.map(({ value }) => value), fields.map((_, i) => i))
    // one is the list itself
    assert.strictEqual(fields.length + omitted, 999)
  })

  const name = Schema.Literals([...known])
  const around = Schema.Literals(["", " ", "\n", "\"", ": ", "(", "Ana, ", "https://example.com/?t=", "x ".repeat(120)])
  const chars = (length: number) =>
    Schema.Array(Schema.Literals([..."0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"])).check(
      Schema.isBetweenLength(length, length)
    )
  const secret = Schema.Struct({ before: Schema.Literals(["wac_live_", "whsec_", "EAA", ""]), random: chars(36) })

  it.prop(
    "no given secret comes out, whatever stands around it and wherever it is",
    { secret, before: around, after: around, path: Schema.Array(name).check(Schema.isBetweenLength(1, 4)) },
    ({ after, before, path, secret }) => {
      const text = secret.before + secret.random.join("")
      // after a letter or a digit it would be another word
      const whole = before + text + (/^\w/u.test(after) ? ` ${after}` : after)
      const body = path.reduceRight<unknown>(
        (inner, name, i) => i % 2 === 0 ? { [name]: inner } : [{ [name]: inner }],
        whole
      )
      const json = JSON.stringify(BodyValues.checked(unchecked(body), () => false))
      for (let i = 0; i + 8 <= text.length; i++) assert.notInclude(json, text.slice(i, i + 8))
    },
    checks
  )

  it.prop(
    "whatever a body is, no more is kept of it than its bound, and no value of a field that its shape does not have",
    { json: Schema.Record(name, Schema.Union([Schema.Json, Schema.Array(Schema.Json)])) },
    ({ json }) => {
      const { fields } = BodyValues.checked(unchecked(json), () => true)
      const shape = new Map<string, BodyShape.Type>()
      const all = { fields: Infinity, items: Infinity }
      BodyShape.walk(json, known, all, ({ path, type }) => void shape.set(path, type))
      for (const { path, value } of fields) {
        assert.include(["text", "number", "boolean", "null"], shape.get(path))
        if (typeof value === "string") assert.isAtMost(value.length, BodyValues.maxLength)
      }
    },
    checks
  )
})
