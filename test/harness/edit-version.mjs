// An editor for `kubectl edit`: changes the version of a job, as a person might, and shows what kubectl says on top of the
// file when it comes back because the change was refused.
import { readFileSync, writeFileSync } from 'node:fs'

const file = process.argv[2]
const text = readFileSync(file, 'utf8')
for (const line of text.split('\n').filter((each) => each.startsWith('#'))) console.error(line)
writeFileSync(file, text.replace(/^( {2}version:).*$/m, '$1 v9.9.9'))
