/** How many turns the event loop takes until a promise has settled: others are served in each of them. */
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
