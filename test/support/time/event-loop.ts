/** The number of event loop turns until a promise settles. Other work can run in each turn. */
export async function turnsDuring(work: Promise<unknown>): Promise<number> {
  let [turns, over] = [0, false]
  const ended = () => {
    over = true
  }
  work.then(ended, ended)
  while (!over) {
    await new Promise((resolve) => setImmediate(resolve))
    turns++
  }
  await work
  return turns
}
