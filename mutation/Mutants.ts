import { Instrumenter } from "@stryker-mutator/instrumenter"

/** A change of a decision that some test should notice. */
export interface Mutant {
  readonly id: string
  /** Relative to the repository. */
  readonly file: string
  /** From 1. */
  readonly line: number
  /** The kind of change, such as `EqualityOperator`. */
  readonly mutator: string
  readonly before: string
  readonly after: string
}

/** A source with its path relative to the repository. */
export interface Source {
  readonly file: string
  readonly text: string
}

/** Sources in which every mutant is present and turned off (`Switch`), and the list of the mutants. */
export interface Mutated {
  readonly sources: ReadonlyArray<Source>
  readonly mutants: ReadonlyArray<Mutant>
}

/** The parts of Babel's paths that {@link ignored} reads. */
interface Path {
  readonly node: {
    readonly type: string
    readonly value?: unknown
    readonly quasis?: ReadonlyArray<{ readonly value: { readonly raw: string } }>
  }
}

const isProse = ({ node }: Path): boolean =>
  (node.type === "StringLiteral" && typeof node.value === "string" && node.value.includes(" ")) ||
  (node.type === "TemplateLiteral" && (node.quasis ?? []).some(({ value }) => value.raw.includes(" ")))

/** The kinds of mutants that no test should kill, each with the reason. */
const ignored = [
  { shouldIgnore: (path: Path) => isProse(path) ? "a text for people may be worded differently" : undefined }
]

const logger = {
  isTraceEnabled: () => false,
  isDebugEnabled: () => false,
  isInfoEnabled: () => false,
  isWarnEnabled: () => false,
  isErrorEnabled: () => false,
  isFatalEnabled: () => false,
  trace: () => {},
  debug: () => {},
  info: () => {},
  warn: () => {},
  error: () => {},
  fatal: () => {}
}

interface Position {
  readonly line: number
  readonly column: number
}

const between = (lines: ReadonlyArray<string>, start: Position, end: Position): string => {
  const part = lines.slice(start.line, end.line + 1)
  const ended = part.with(part.length - 1, part.at(-1)!.slice(0, end.column))
  return ended.with(0, ended[0]!.slice(start.column)).join("\n")
}

/** Finds the mutants of sources. The same sources have the same mutants with the same identifiers. */
export const of = async (sources: ReadonlyArray<Source>): Promise<Mutated> => {
  const { files, mutants } = await new Instrumenter(logger).instrument(
    sources.map(({ file, text }) => ({ name: file, content: text, mutate: true })),
    // Switch has the functions that the header would define
    { plugins: null, excludedMutations: [], ignorers: ignored as never, noHeader: true }
  )
  const lines = new Map(sources.map(({ file, text }) => [file, text.split("\n")]))
  return {
    sources: files.map(({ content, name }) => ({ file: name, text: content })),
    mutants: mutants.filter(({ status }) => status !== "Ignored").map((mutant) => ({
      id: mutant.id,
      file: mutant.fileName,
      line: mutant.location.start.line + 1,
      mutator: mutant.mutatorName,
      before: between(lines.get(mutant.fileName)!, mutant.location.start, mutant.location.end),
      after: mutant.replacement
    }))
  }
}
