// What the measured agent says and reads, for keepup and for what is measured beside it. Imports nothing.

const WORDS =
  'the file test error function returns value import export const agent reads writes module because expected string ' +
  'number index path source line column check build result config option request response handler server client'
const words = WORDS.split(' ')

/** Text as varied as prose and code are: words in a pseudo-random order, with numbers. */
export function prose(bytes: number, seed: number): string {
  let state = seed * 2654435761 + 1
  let out = ''
  while (out.length < bytes) {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0
    out += `${words[(state >>> 8) % words.length]}${state % 7 === 0 ? (state >>> 4).toString(36) : ''} `
  }
  return out.slice(0, bytes)
}

/** Of the text that every bench records. */
export const SEED = 1

const LONG = prose(1 << 20, SEED)

/** `bytes` of a long text, another place of it for every `n`. Costs nothing, so that it does not count as ours. */
const piece = (bytes: number, n: number) => {
  const at = (n * 7919) % (LONG.length - bytes)
  return LONG.slice(at, at + bytes)
}

const spread = (n: number, salt: number, range: number) => (Math.imul(n + 1, 7919 + salt * 104729) >>> 3) % range

/** What the scripted model says in a turn, the first one being 1: 200 to 1,400 bytes of text and a call. */
export function answerOf(turn: number, last: boolean) {
  const id = `toolu_${spread(turn, 2, 1e9).toString(36)}`
  return {
    text: piece(200 + spread(turn, 1, 1200), turn * 3),
    call: last
      ? { id, name: 'complete_task', input: { summary: 'Read all of it.' } }
      : { id, name: 'read_file', input: { path: `src/${turn}.ts` } },
  }
}

/** What the `n`th call of the tool gives: 300 to 2,900 bytes of text. */
export const resultOf = (n: number): string => piece(300 + spread(n, 4, 2600), n)
