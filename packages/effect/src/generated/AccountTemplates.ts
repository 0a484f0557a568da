/**
 * The account's templates, for the type checker. All of the file is exported, so that the declaration that `wac
 * templates types` writes can extend the interface. Written from the API definition; do not edit.
 */
import type { SendTemplate, TemplateButton, TemplateContent, TemplateHeader, TemplateValue } from "./MessageContents.ts"

/**
 * The account's templates by name and language. `wac templates types > templates.d.ts` writes them, and then `send`
 * and `enqueue` take no other name or language, and the values that the template takes: those of the body, the header
 * and the buttons. Without that file, names are any text.
 */
export interface AccountTemplates {}

/** What a declaration says of a template. */
export interface DeclaredTemplate {
  /** The names of the body's placeholders, in order. */
  readonly body: ReadonlyArray<string>
  /** Whether the values of the body may be given by name too. */
  readonly isNamed?: true
  /** The field of `header` that it takes. */
  readonly header?: keyof TemplateHeader
  /** The field of each button that takes a value, by the button's index. */
  readonly buttons?: { readonly [index: number]: keyof TemplateButton }
  /** The same of buttons that may be left out. */
  readonly optionalButtons?: { readonly [index: number]: keyof TemplateButton }
  readonly hasCards?: true
  readonly hasOffer?: true
}

type InOrder<Names extends ReadonlyArray<string>> = { readonly [Place in keyof Names]: TemplateValue }

type BodyOf<T extends DeclaredTemplate> = T["body"] extends readonly [] ? { readonly bodyParams?: readonly [] } : {
  readonly bodyParams:
    | InOrder<T["body"]>
    | (T extends { readonly isNamed: true } ? { readonly [Name in T["body"][number]]: TemplateValue } : never)
}

type HeaderOf<T> = T extends { readonly header: infer Field extends keyof TemplateHeader }
  ? { readonly header: Required<Pick<TemplateHeader, Field>> }
  : { readonly header?: never }

type ButtonOf<Buttons> = {
  readonly [Index in keyof Buttons]: Buttons[Index] extends keyof TemplateButton ?
      & { readonly index: Index }
      & Required<Pick<TemplateButton, Buttons[Index]>>
      & (Buttons[Index] extends "flowToken" ? Pick<TemplateButton, "flowData"> : unknown)
    : never
}[keyof Buttons]

type OptionalButtonOf<T> = T extends { readonly optionalButtons: infer Buttons } ? ButtonOf<Buttons> : never

type ButtonsOf<T> = T extends { readonly buttons: infer Buttons } ? {
    readonly buttons: readonly [
      ButtonOf<Buttons> | OptionalButtonOf<T>,
      ...ReadonlyArray<ButtonOf<Buttons> | OptionalButtonOf<T>>
    ]
  }
  : { readonly buttons?: ReadonlyArray<OptionalButtonOf<T>> }

type CardsOf<T> = T extends { readonly hasCards: true } ? Required<Pick<TemplateContent, "cards">>
  : { readonly cards?: never }

type OfferOf<T> = T extends { readonly hasOffer: true } ? Required<Pick<TemplateContent, "limitedTimeOffer">>
  : { readonly limitedTimeOffer?: never }

type ContentOf<T> = T extends DeclaredTemplate ? BodyOf<T> & HeaderOf<T> & ButtonsOf<T> & CardsOf<T> & OfferOf<T>
  : never

type InLanguages<Name, Languages> = {
  readonly [Language in keyof Languages]: Omit<SendTemplate, "template"> & {
    readonly template: ContentOf<Languages[Language]> & { readonly name: Name; readonly language: Language }
  }
}[keyof Languages]

/** An approved template, which may be sent at any time: one of {@link AccountTemplates}, or any if none are declared. */
export type TemplateMessage = [keyof AccountTemplates] extends [never] ? SendTemplate : {
  readonly [Name in keyof AccountTemplates]: InLanguages<Name, AccountTemplates[Name]>
}[keyof AccountTemplates]
