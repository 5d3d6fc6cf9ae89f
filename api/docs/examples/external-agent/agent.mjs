// Stands for the agent of another maker: one JSON object a line.
const prompt = process.argv.at(-1)
console.log(JSON.stringify({ type: 'start', session: 's1' }))
console.log(JSON.stringify({ type: 'text', text: `I was asked: ${prompt}` }))
console.log(JSON.stringify({ type: 'done', text: 'Two rooms, one door.' }))
