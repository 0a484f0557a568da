/**
 * The account's templates, for the type checker. A file of its own, and all of it exported, so that the declaration that
 * `wac templates types` writes can extend the interface.
 */
import type { SendTemplate, TemplateContent } from "../generated/MessageContents.ts"

/**
 * The account's templates by name and language. `wac templates types > templates.d.ts` writes them, and then `send` and
 * `enqueue` take no other name, language or number of placeholders. Without that file, names are any text.
 */
export interface AccountTemplates {}

type InLanguages<Name, Languages> = {
  readonly [Language in keyof Languages]: Omit<SendTemplate, "template"> & {
    readonly template: Omit<TemplateContent, "name" | "language" | "bodyParams"> & Languages[Language] & {
      readonly name: Name
      readonly language: Language
    }
  }
}[keyof Languages]

/** An approved template, which may be sent at any time: one of {@link AccountTemplates}, or any if none are declared. */
export type TemplateMessage = [keyof AccountTemplates] extends [never] ? SendTemplate : {
  readonly [Name in keyof AccountTemplates]: InLanguages<Name, AccountTemplates[Name]>
}[keyof AccountTemplates]
