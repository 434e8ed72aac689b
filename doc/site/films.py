"""The page of scenes plays films where ./demo has made them: results/SCENE/film.mp4 takes the place of the scene's picture."""

import pathlib
import shutil

from docutils import nodes

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PAGE, PICTURES = "doc/scenes", "doc/gallery"


def film_of(image):
    return ROOT / "results" / pathlib.PurePosixPath(image["uri"]).stem / "film.mp4"


def play(app, doctree):
    if app.env.docname != PAGE or app.builder.format != "html":
        return
    for image in list(doctree.findall(nodes.image)):
        film = film_of(image)
        app.env.note_dependency(str(film))
        if film.is_file():
            name = film.parent.name
            image.replace_self(
                nodes.raw(
                    "",
                    f'<video controls preload="none" poster="../_films/{name}.png" src="../_films/{name}.mp4"></video>',
                    format="html",
                )
            )


def copy(app, exception):
    folder = pathlib.Path(app.outdir) / "_films"
    for film in (ROOT / "results").glob("*/film.mp4"):
        picture = ROOT / PICTURES / f"{film.parent.name}.png"
        if exception is None and picture.is_file():
            folder.mkdir(exist_ok=True)
            shutil.copy(film, folder / f"{film.parent.name}.mp4")
            shutil.copy(picture, folder / picture.name)


def setup(app):
    app.connect("doctree-read", play, priority=50)
    app.connect("build-finished", copy)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
