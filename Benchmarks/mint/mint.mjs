// mint.mjs KEY SECONDS: what mint does, with jose (Debian's node-jose) from the folder in $NODE_JOSE.
import { createPrivateKey } from "node:crypto";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const { SignJWT } = createRequire(import.meta.url)(process.env.NODE_JOSE);
const key = createPrivateKey(readFileSync(process.argv[2]));

function mint(now) {
  return new SignJWT({})
    .setProtectedHeader({ alg: "ES256", kid: "ABC123DEFG", typ: "JWT" })
    .setIssuer("DEF123GHIJ").setIssuedAt(now - 60).setExpirationTime(now + 86_400)
    .setAudience("https://appleid.apple.com").setSubject("com.example.web")
    .sign(key);
}

// The whole process's: jose signs on another thread.
function processorTime() {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}

const start = Math.floor(Date.now() / 1000);
let token = await mint(start);
let count = 0;
const began = processorTime();
let spent = 0;
while (spent < Number(process.argv[3])) {
  for (let index = 0; index < 500; index += 1) {
    count += 1;
    token = await mint(start - count);
  }
  spent = processorTime() - began;
}
console.log(Math.floor(count / spent), token);
