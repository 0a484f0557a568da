/**
 * Finds names that are nearly the names of variables, such as `DATABSE_URL`: without this check, the server would run
 * with the default of the intended variable.
 */

/** The length from which names are checked. Shorter names differ too little: `HOME` is not `HOST`. */
const shortest = 9

/** Whether one insertion, deletion or replacement of a character, or one swap of neighbours, turns `a` into `b`. */
const isOneEdit = (a: string, b: string): boolean => {
  const [short, long] = a.length <= b.length ? [a, b] : [b, a]
  let same = 0
  while (same < short.length && short[same] === long[same]) same++
  if (short.length < long.length) return short.slice(same) === long.slice(same + 1)
  const isSwap = short[same] === long[same + 1] && short[same + 1] === long[same] &&
    short.slice(same + 2) === long.slice(same + 2)
  return same < short.length && (isSwap || short.slice(same + 1) === long.slice(same + 1))
}

/** A name that is set, and the known name that was probably meant. */
export interface Misspelled {
  readonly name: string
  readonly meant: string
}

/**
 * The first of the names that are set, sorted, that has nine letters or more, is not known, and is one edit away from a
 * name that is read and not set; `undefined` if there is none.
 */
export const find = (
  set: ReadonlyArray<string>,
  known: ReadonlyArray<string>,
  read: ReadonlyArray<string>
): Misspelled | undefined => {
  const missing = read.filter((name) => !set.includes(name))
  for (const name of set.filter((name) => name.length >= shortest && !known.includes(name)).sort()) {
    const meant = missing.find((each) => isOneEdit(name, each))
    if (meant !== undefined) return { name, meant }
  }
  return undefined
}
