#!/usr/bin/env python3
"""Films play in a browser: each film under a folder of results is played to its end in headless Chromium.

    films.py [FOLDER]                            default: results

A film must load, have a picture and a duration, move on, and end without an error; at most 5 MB. Prints a line for each.
Exit code 1 if one fails, 2 if there is no film or no browser.
"""

import functools
import http.server
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import threading

LARGEST = 5e6  # bytes
RATE = 4  # times as fast as they are watched
PATIENCE = 120  # s for one film
OPTIONS = (
    "--headless --no-sandbox --disable-gpu --disable-background-networking --autoplay-policy=no-user-gesture-required"
)

PAGE = """<!DOCTYPE html><video id="film" muted style="width: 640px"></video><script>
const film = document.getElementById("film");
async function play(name) {
  return new Promise(resolve => {
    let moments = 0, last = -1;
    const done = error => resolve({name, error, duration: film.duration, width: film.videoWidth, height: film.videoHeight,
                                   moments, end: film.currentTime});
    film.onerror = () => done(film.error.message || "error " + film.error.code);
    film.ontimeupdate = () => { moments += film.currentTime > last; last = film.currentTime; };
    film.onended = () => done("");
    setTimeout(() => done("does not end"), 1000 * PATIENCE);
    film.src = "/" + name;
    film.playbackRate = film.defaultPlaybackRate = RATE;
    film.play().catch(error => done(String(error)));
  });
}
(async () => {
  for (const name of NAMES) {
    await fetch("/", {method: "POST", body: JSON.stringify(await play(name))});
  }
})();
</script>"""


class Server(http.server.SimpleHTTPRequestHandler):
    """Serves the page and the films, and receives their results."""

    page, heard, news = "", [], threading.Condition()

    def do_GET(self):
        if self.path != "/":
            return super().do_GET()
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(self.page.encode())

    def do_POST(self):
        said = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with self.news:
            self.heard.append(said)
            self.news.notify()
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_):
        pass


def judge(film, size):
    """Problem of a film; nothing if it plays."""
    problems = [film["error"]] if film["error"] else []
    if not film["duration"] or not film["duration"] > 0 or not film["width"] or not film["height"]:
        problems.append("has no picture or duration")
    elif not film["error"] and (film["moments"] < 2 or film["end"] < 0.99 * film["duration"]):
        problems.append(f"stands still at {film['end']:.1f} s")
    if size > LARGEST:
        problems.append(f"has more than {LARGEST / 1e6:.0f} MB")
    return ", ".join(problems)


def main():
    folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "results")
    names = sorted(str(path.relative_to(folder)) for path in folder.glob("**/*.mp4"))
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if not names or not browser:
        lack = "browser; install chromium" if names else f"films in {folder}; run ./demo"
        print(f"films.py: no {lack}", file=sys.stderr)
        return 2
    Server.page = PAGE.replace("NAMES", json.dumps(names)).replace("RATE", str(RATE)).replace("PATIENCE", str(PATIENCE))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Server, directory=folder))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    bad = 0
    with tempfile.TemporaryDirectory() as profile:
        words = [browser, *OPTIONS.split(), f"--user-data-dir={profile}", f"http://127.0.0.1:{server.server_port}/"]
        chromium = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            for k, name in enumerate(names):
                with Server.news:
                    if not Server.news.wait_for(lambda k=k: len(Server.heard) > k, 2 * PATIENCE):
                        print(f"FAIL {name}: the browser does not answer")
                        return 1
                film, size = Server.heard[k], (folder / name).stat().st_size
                problem = judge(film, size)
                bad += bool(problem)
                verdict = f"FAIL: {problem}" if problem else "ok"
                shape = f"{film['width']} x {film['height']}, {film['duration'] or 0:.1f} s, {size / 1e6:.2f} MB"
                print(f"{name}: {shape}; {verdict}", flush=True)
        finally:
            chromium.terminate()
            chromium.wait()
            server.shutdown()
    print(f"{len(names) - bad} of {len(names)} films play")
    return bad > 0


if __name__ == "__main__":
    sys.exit(main())
